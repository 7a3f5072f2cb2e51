package symbolize

import (
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// Inlined is the kind of functions that an object has as inlined code only.
const Inlined funcinfo.Kind = "inlined"

// Level is one level of an instruction's inline chain (S10).
type Level struct {
	Function       FunctionNo
	funcinfo.Place // reached in it
}

// InlinedAt returns the inline chain of a location, the outermost function first.
func (p *Program) InlinedAt(location LocationNo) []Level {
	if p.Inlines == nil {
		return nil
	}
	return p.Inlines[location]
}

// inlinedKey is an inlined function of a load object's table.
type inlinedKey struct {
	object ObjectNo
	number int32 // in the table
}

// expand finds the inline chains of all locations.
func (r *Resolver) expand() {
	p := r.Program
	p.Inlines = make([][]Level, p.Locations.Len())
	for n := range LocationNo(len(p.Inlines)) {
		l := p.Location(n)
		p.Inlines[n] = r.namedLevels[n]
		t := p.Objects[l.Object].table
		if t == nil || l.Reason != "" {
			continue
		}
		for _, f := range t.Inlined(l.Offset) {
			p.Inlines[n] = append(p.Inlines[n], Level{r.inlined(p.Functions[l.Function].Object, &f), f.Place})
		}
	}
}

// inlined returns the function of a level: the object's own, if the debug information says
// that it also has code that is not inlined.
func (r *Resolver) inlined(object ObjectNo, at *symtab.Frame) FunctionNo {
	k := inlinedKey{object, at.Number}
	n, ok := r.inlinedFunctions[k]
	if !ok {
		n = r.newInlined(object, at.Function)
		r.inlinedFunctions[k] = n
	}
	return n
}

// newInlined interns an inlined function that was not asked for before.
func (r *Resolver) newInlined(object ObjectNo, in *symtab.InlinedFunction) FunctionNo {
	p := r.Program
	t := p.Objects[object].table
	if in.Deeper {
		return r.artificialFunction(in.Name)
	}
	if own, ok := t.Function(in.Own); ok && in.Own > 0 && own.Offset == in.Own {
		return r.tableFunction(object, own)
	}
	m := t.Modules[in.Module]
	return p.function(Function{
		Object: object, Module: p.tableModule(object, m), Name: in.Name, Linkage: in.Linkage, Aliases: in.Linkage, Kind: Inlined, Scope: in.Scope, Line: in.Start,
	}, in.ID)
}
