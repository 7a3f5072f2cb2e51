package tables

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"

	"stackmill/stages/symbolize/datatype"
	"stackmill/stages/symbolize/debuginfo"
)

// Data returns what the debug information of the load object in a file, or of
// its debug file, tells about types and variables. It is nil without an error
// for a file that has none. The table is shared.
func (l *Loader) Data(path string) (*datatype.Table, error) {
	s, err := open(path, l.options.DebugDirs)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if s.object == nil {
		return nil, nil
	}
	kept := s.key + ".data" // beside the table of symbols
	v, err, _ := l.flights.Do(kept, func() (any, error) {
		if t := l.lookup(kept); t != nil {
			return t, nil
		}
		t := l.disk.readData(s.key)
		if t == nil {
			var missing []string
			if err := guard(path, func() { t, missing = debuginfo.Data(s.object, s.debug) }); err != nil {
				return nil, err
			}
			l.disk.writeData(s.key, missing, t)
		}
		l.keep(kept, t)
		return t, nil
	})
	if err != nil {
		return nil, err
	}
	t := v.(*datatype.Table)
	if len(t.Types) == 1 && len(t.Scopes) == 1 && len(t.Notes) == 0 {
		return nil, nil
	}
	return t, nil
}

// dataVersion changes with datatype's encoding and with what it says of an object.
const dataVersion = 6

// dataPath is a file with the same head as a table's, and behind it dataVersion
// in a byte, the key and the missing files (see appendTexts), and the types and
// variables as datatype encodes them.
func (d disk) dataPath(key string) string { return filepath.Join(d.dir, key+".data") }

// readData is read for types and variables.
func (d disk) readData(key string) *datatype.Table {
	body, ok := unseal(d.content(d.dataPath(key)))
	head := appendTexts([]byte{dataVersion}, key)
	if !ok || !bytes.HasPrefix(body, head) {
		return nil
	}
	missing, body, ok := cutTexts(body[len(head):])
	if !ok {
		return nil
	}
	for _, file := range missing[:min(len(missing), maxChecked)] {
		if _, err := os.Stat(file); err == nil {
			return nil // the table lacks what this file tells
		}
	}
	t, err := datatype.Decode(body)
	if err != nil {
		return nil
	}
	return t
}

func (d disk) writeData(key string, missing []string, t *datatype.Table) {
	if d.dir != "" {
		head := appendTexts(appendTexts([]byte{dataVersion}, key), missing...)
		d.store(d.dataPath(key), seal(t.Append(head)))
	}
}

// appendTexts appends the number of some texts, and of each its length and its
// bytes.
func appendTexts(b []byte, texts ...string) []byte {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, s := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

func cutTexts(b []byte) (texts []string, rest []byte, ok bool) {
	d := &decoder{b: b}
	for range d.count() {
		n := d.count()
		texts = append(texts, string(d.b[:n]))
		d.b = d.b[n:]
	}
	return texts, d.b, !d.bad
}
