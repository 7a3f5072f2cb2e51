package cache

import (
	"errors"

	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
)

type encoder struct{ *columns.Writer }

type decoder struct{ *columns.Reader }

// encode returns the content of a table's cache file.
func encode(key string, missing []string, t *symtab.Table) []byte {
	e := encoder{columns.NewWriter()}
	e.Text(key)
	e.Texts(missing)
	e.Text(t.BuildID)
	e.Texts(t.Files)
	e.Uint(uint64(t.Checksum))
	e.Uint(uint64(t.Arch))
	e.Uint(uint64(len(t.Notes)))
	for _, n := range t.Notes {
		e.Int(n.Offset)
		e.Bool(n.Damage)
		e.Text(n.Text)
		e.Text(n.Reason)
	}
	e.Uint(uint64(len(t.Segments)))
	for _, s := range t.Segments {
		for _, v := range []uint64{s.Offset, s.Address, s.FileSize, s.MemSize, uint64(s.Flags)} {
			e.Uint(v)
		}
	}
	e.Uint(t.TLS.Size)
	e.Uint(t.TLS.Align)
	e.Uint(uint64(len(t.Regions)))
	for _, r := range t.Regions {
		e.Text(r.Name)
		for _, v := range []uint64{r.Offset, r.Address, r.Size} {
			e.Uint(v)
		}
	}
	e.Uint(uint64(len(t.Modules)))
	for _, m := range t.Modules {
		e.Text(m.Name)
		e.Text(m.Language)
		e.Text(m.ShortPath)
	}
	t.Functions.Write(e.Writer)
	t.Lines.Write(e.Writer, false)
	e.inlines(&t.Inlines)
	e.slots(t.Slots)
	return seal(e.Append(nil))
}

var errCache = errors.New("damaged cache file")

// decode reads a cache file.
func decode(b []byte) (key string, missing []string, t *symtab.Table, err error) {
	body, ok := unseal(b)
	if !ok {
		return "", nil, nil, errCache
	}
	d := decoder{columns.NewReader(body)}
	key, missing = d.Text(), d.Texts()
	t = &symtab.Table{BuildID: d.Text(), Files: d.Texts(), Checksum: uint32(d.Uint()), Arch: isa.Arch(d.Uint())}
	t.Notes = columns.Slice[symtab.Note](d.Count())
	for i := range t.Notes {
		t.Notes[i] = symtab.Note{Offset: d.Int(), Damage: d.Bool(), Text: d.Text(), Reason: d.Text()}
	}
	t.Segments = columns.Slice[symtab.Segment](d.Count())
	for i := range t.Segments {
		t.Segments[i] = symtab.Segment{Offset: d.Uint(), Address: d.Uint(), FileSize: d.Uint(), MemSize: d.Uint(), Flags: uint32(d.Uint())}
	}
	t.TLS = symtab.TLS{Size: d.Uint(), Align: d.Uint()}
	t.Regions = columns.Slice[symtab.Region](d.Count())
	for i := range t.Regions {
		t.Regions[i] = symtab.Region{Name: d.Text(), Offset: d.Uint(), Address: d.Uint(), Size: d.Uint()}
	}
	t.Modules = columns.Slice[symtab.Module](d.Count())
	for i := range t.Modules {
		t.Modules[i] = symtab.Module{Name: d.Text(), Language: d.Text(), ShortPath: d.Text()}
	}
	t.Functions = symtab.ReadFunctions(d.Reader, len(t.Modules))
	t.Lines = symtab.ReadRows(d.Reader, len(t.Files), -1)
	d.inlines(t)
	t.Slots = d.slots()
	if !d.Whole() || len(t.Modules) == 0 {
		return "", nil, nil, errCache
	}
	return key, missing, t, nil
}
