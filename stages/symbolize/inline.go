package symbolize

import (
	"stackmill/internal/memo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// inlinedKey identifies an inlined function in a load object's symbol table.
type inlinedKey struct {
	object program.ObjectNo
	number int32 // the function's number in the symbol table
}

// findInlineChains sets the functions inlined at each location.
func (r *Resolver) findInlineChains() {
	p := r.Program
	p.Inlines = make([][]program.Level, p.Locations.Len())
	for n := range program.LocationNo(len(p.Inlines)) {
		l := p.Location(n)
		p.Inlines[n] = r.namedLevels[n]
		t := r.loadObjects[l.Object].table
		if t == nil || l.Reason != "" {
			continue
		}
		for _, f := range t.Inlined(l.Offset) {
			p.Inlines[n] = append(p.Inlines[n], program.Level{Function: r.internInlined(p.Functions[l.Function].Object, &f), Place: f.Place})
		}
	}
}

// internInlined returns the function of an inlined call: the symbol table's function if it also
// exists as code of its own.
func (r *Resolver) internInlined(object program.ObjectNo, at *symtab.Frame) program.FunctionNo {
	return memo.Get(r.inlinedFunctions, inlinedKey{object, at.Number}, func() program.FunctionNo { return r.newInlined(object, at.Function) })
}

// newInlined interns an inlined function.
func (r *Resolver) newInlined(object program.ObjectNo, in *symtab.InlinedFunction) program.FunctionNo {
	p := r.Program
	t := r.loadObjects[object].table
	if in.Deeper {
		return r.artificialFunction(in.Name)
	}
	if own, ok := t.Function(in.Own); ok && in.Own > 0 && own.Offset == in.Own {
		return r.tableFunction(object, own)
	}
	m := t.Modules[in.Module]
	return p.InternFunction(program.Function{
		Object: object, Module: r.tableModule(object, m), Name: in.Name, Linkage: in.Linkage, Aliases: in.Linkage, Kind: program.Inlined, Scope: in.Scope, Line: in.Start,
	}, in.ID)
}
