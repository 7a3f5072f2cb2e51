package cache

import (
	"errors"
	"math"

	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// encode returns the content of a table's cache file.
func encode(key string, missing []string, t *symtab.Table) []byte {
	w := columns.NewWriter()
	c := w.Coder()
	codeHead(c, &key, &missing, t)
	t.Functions.Write(w)
	t.Lines.Write(w, false)
	codeCalls(c, t)
	t.Inlines.Rows.Write(w, true)
	codeSlots(c, t)
	return seal(w.Append(nil))
}

var errCache = errors.New("damaged cache file")

// decode reads a cache file.
func decode(b []byte) (key string, missing []string, t *symtab.Table, err error) {
	body, ok := unseal(b)
	if !ok {
		return "", nil, nil, errCache
	}
	r := columns.NewReader(body)
	c := r.Coder()
	t = &symtab.Table{}
	codeHead(c, &key, &missing, t)
	t.Functions = symtab.ReadFunctions(r, len(t.Modules))
	t.Lines = symtab.ReadRows(r, len(t.Files), -1)
	codeCalls(c, t)
	t.Inlines.Rows = symtab.ReadRows(r, len(t.Files), len(t.Inlines.Calls))
	codeSlots(c, t)
	if !r.Whole() || len(t.Modules) == 0 {
		return "", nil, nil, errCache
	}
	return key, missing, t, nil
}

func codeHead(c columns.Coder, key *string, missing *[]string, t *symtab.Table) {
	c.Text(key)
	c.Texts(missing)
	c.Text(&t.BuildID)
	c.Texts(&t.Files)
	columns.Below(c, math.MaxUint32+1, &t.Checksum)
	columns.Below(c, math.MaxUint8+1, &t.Arch)
	columns.List(c, &t.Notes, func(_ int, n *symtab.Note) {
		c.Int(&n.Offset)
		c.Bool(&n.Damage)
		c.Text(&n.Text, &n.Reason)
	})
	columns.List(c, &t.Segments, func(_ int, s *symtab.Segment) {
		c.Uint(&s.Offset, &s.Address, &s.FileSize, &s.MemSize)
		columns.Below(c, math.MaxUint32+1, &s.Flags)
	})
	c.Uint(&t.TLS.Size, &t.TLS.Align)
	columns.List(c, &t.Regions, func(_ int, r *symtab.Region) {
		c.Text(&r.Name)
		c.Uint(&r.Offset, &r.Address, &r.Size)
	})
	columns.List(c, &t.Modules, func(_ int, m *symtab.Module) { c.Text(&m.Name, &m.Language, &m.ShortPath) })
}

// codeCalls writes or reads inlined functions and calls. A call's parent must come before the call,
// so that following the parents always ends.
func codeCalls(c columns.Coder, t *symtab.Table) {
	in := &t.Inlines
	columns.List(c, &in.Functions, func(_ int, f *symtab.InlinedFunction) {
		c.Text(&f.Name, &f.Linkage)
		columns.Below(c, int(funcinfo.BuildScope)+1, &f.Scope)
		c.Uint(&f.Own)
		columns.Below(c, len(t.Modules), &f.Module)
		columns.Below(c, math.MaxInt32+1, &f.Start)
		c.Uint(&f.ID)
		c.Bool(&f.Deeper)
	})
	columns.List(c, &in.Calls, func(i int, call *symtab.Call) {
		columns.Below(c, len(in.Functions), &call.Function)
		file, distance := call.File+1, int32(i)-call.Around-1
		columns.Below(c, len(t.Files)+1, &file)
		columns.Below(c, math.MaxInt32+1, &call.Line)
		columns.Below(c, i+1, &distance)
		columns.Below(c, math.MaxInt32+1, &call.Discriminator)
		call.File, call.Around = file-1, int32(i)-distance-1
	})
	columns.List(c, &in.Regions, func(_ int, h *symtab.RegionHolder) {
		c.Uint(&h.Body)
		columns.Below(c, len(in.Functions), &h.Function)
	})
}

func codeSlots(c columns.Coder, t *symtab.Table) {
	var last uint64
	columns.List(c, &t.Slots, func(_ int, s *symtab.Slot) {
		c.From(last, &s.Address)
		c.Text(&s.Symbol)
		c.Uint(&s.Resolver)
		c.Bool(&s.Lazy)
		last = s.Address
	})
}
