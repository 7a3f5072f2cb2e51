package cache

import (
	"cmp"
	"encoding/binary"
	"path/filepath"

	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/loadobject/types/build"
)

// Data returns the types and variables in the debug information of a load object or of its debug
// file, nil without an error if there are none. The table is shared.
func (r *Recording) Data(path string) (*types.Table, error) {
	l := r.loader
	t, err := loadTable(r, path, ".data", func(s *source) (t *types.Table, missing []string, err error) {
		if t, missing = l.disk.readData(s.key); t != nil && !s.appeared(missing) {
			return t, missing, nil
		}
		err = elf.Guard(path, func() { t, missing = build.Table(s.object, s.debug) })
		if err = cmp.Or(err, s.hostErr()); err == nil && !s.local() {
			l.disk.writeData(s.key, missing, t)
		}
		return t, missing, err
	})
	if t == nil || len(t.Types) == 1 && len(t.Scopes) == 1 && len(t.Notes) == 0 {
		return nil, err
	}
	return t, err
}

// dataVersion must be raised when the encoding changes, or when the same object gives another
// table.
const dataVersion = 12

// dataPath returns the path of the cache file for types and variables. Its body, after the header:
// dataVersion (one byte), the length of the head, the head (columns with the key and the missing
// files), and the table in package types' encoding.
func (d disk) dataPath(key string) string { return filepath.Join(d.dir, key+".data") }

// readData returns the cached types and variables, like read; nil also if a file that was missing
// when the table was built exists now.
func (d disk) readData(key string) (*types.Table, []string) {
	body, ok := unseal(d.content(d.dataPath(key)))
	if !ok || len(body) == 0 || body[0] != dataVersion {
		return nil, nil
	}
	length, n := binary.Uvarint(body[1:])
	if n <= 0 || length > uint64(len(body)-1-n) {
		return nil, nil
	}
	head, rest := body[1+n:][:length], body[1+n:][length:]
	r := columns.NewReader(head)
	if got, missing := r.Text(), r.Texts(); r.Whole() && got == key && !appeared(missing, nil) {
		if t, err := types.Decode(rest); err == nil {
			return t, missing
		}
	}
	return nil, nil
}

func (d disk) writeData(key string, missing []string, t *types.Table) {
	if d.dir == "" {
		return
	}
	w := columns.NewWriter()
	w.Text(key)
	w.Texts(missing)
	head := w.Append(nil)
	body := append(binary.AppendUvarint([]byte{dataVersion}, uint64(len(head))), head...)
	d.store(d.dataPath(key), seal(t.Append(body)))
}
