package cache

import (
	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

func (e encoder) inlines(in *symtab.Inlines) {
	e.Count(len(in.Functions))
	for _, f := range in.Functions {
		e.Text(f.Name)
		e.Text(f.Linkage)
		e.Uint(uint64(f.Scope))
		e.Uint(f.Own)
		e.Uint(uint64(f.Module))
		e.Uint(uint64(f.Start))
		e.Uint(f.ID)
		e.Bool(f.Deeper)
	}
	e.Count(len(in.Calls))
	for i, c := range in.Calls {
		e.Uint(uint64(c.Function))
		e.Uint(uint64(c.File + 1))
		e.Uint(uint64(c.Line))
		e.Uint(uint64(int32(i) - c.Around - 1))
		e.Uint(uint64(c.Discriminator))
	}
	e.Count(len(in.Regions))
	for _, h := range in.Regions {
		e.Uint(h.Body)
		e.Uint(uint64(h.Function))
	}
	in.Rows.Write(e.Writer, true)
}

// inlines reads inlined functions, calls and their code. Each call is inside an earlier one, so that
// chains end.
func (d decoder) inlines(t *symtab.Table) {
	in := &t.Inlines
	in.Functions = columns.Slice[symtab.InlinedFunction](d.Count())
	for i := range in.Functions {
		f := &in.Functions[i]
		f.Name, f.Linkage, f.Scope, f.Own = d.Text(), d.Text(), funcinfo.NameScope(d.Below(int(funcinfo.BuildScope)+1)), d.Uint()
		f.Module, f.Start, f.ID, f.Deeper = d.Below(len(t.Modules)), d.Below(1<<31), d.Uint(), d.Bool()
	}
	in.Calls = columns.Slice[symtab.Call](d.Count())
	for i := range in.Calls {
		c := &in.Calls[i]
		c.Function, c.File = d.Below(len(in.Functions)), d.Below(len(t.Files)+1)-1
		c.Line = d.Below(1 << 31)
		c.Around = int32(i) - d.Below(i+1) - 1
		c.Discriminator = d.Below(1 << 31)
	}
	in.Regions = columns.Slice[symtab.RegionHolder](d.Count())
	for i := range in.Regions {
		in.Regions[i] = symtab.RegionHolder{Body: d.Uint(), Function: d.Below(len(in.Functions))}
	}
	in.Rows = symtab.ReadRows(d.Reader, len(t.Files), len(in.Calls))
}
