package cache

import (
	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/symtab"
)

func (e encoder) inlines(in *symtab.Inlines) {
	e.Texts(in.Names)
	e.Uint(uint64(len(in.Calls)))
	for i, c := range in.Calls {
		e.Uint(uint64(c.Name))
		e.Uint(uint64(c.File + 1))
		e.Uint(uint64(c.Line))
		e.Uint(uint64(int32(i) - c.Around - 1))
		e.Uint(uint64(c.Start))
		e.Uint(uint64(c.Discriminator))
	}
	in.Rows.Write(e.Writer, true)
}

// inlines reads the calls, each of which lies in one before it, so that chains
// end, and then their code.
func (d decoder) inlines(t *symtab.Table) {
	in := &t.Inlines
	in.Names = d.Texts()
	in.Calls = columns.Slice[symtab.Call](d.Count())
	for i := range in.Calls {
		c := &in.Calls[i]
		c.Name, c.File = d.Below(len(in.Names)), d.Below(len(t.Files)+1)-1
		c.Line = d.Below(1 << 31)
		c.Around = int32(i) - d.Below(i+1) - 1
		c.Start, c.Discriminator = d.Below(1<<31), d.Below(1<<31)
	}
	in.Rows = symtab.ReadRows(d.Reader, len(t.Files), len(in.Calls))
}
