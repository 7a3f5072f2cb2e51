package symbolize

import "stackmill/stages/loadobject/symtab"

// Inlined is the kind of functions that an object has as inlined code only.
const Inlined symtab.Kind = "inlined"

// Level is one level of an instruction's inline chain (S10).
type Level struct {
	Function     FunctionNo
	symtab.Place // reached in it
}

// InlinedAt returns the inline chain of a location, the outermost function first.
func (p *Program) InlinedAt(location LocationNo) []Level {
	if p.Inlines == nil {
		return nil
	}
	return p.Inlines[location]
}

// nameKey is what an inlined function is known by.
type nameKey struct {
	object ObjectNo
	module ModuleNo // of the function around
	name   string
}

// expand finds the inline chains of all locations.
func (r *Resolver) expand() {
	p := r.Program
	p.Inlines = make([][]Level, p.Locations.Len())
	for n := range LocationNo(p.Locations.Len()) {
		l := p.Location(n)
		p.Inlines[n] = r.namedLevels[n]
		t := p.Objects[l.Object].table
		if t == nil || l.Reason != "" {
			continue
		}
		for _, f := range t.Inlined(l.Offset) {
			p.Inlines[n] = append(p.Inlines[n], Level{r.inlined(l.Function, &f), f.Place})
		}
	}
}

// inlined returns the function of a name whose code was inlined into another
// one: the object's own function of that name, if it also has one that can be
// called, best of the same module.
func (r *Resolver) inlined(around FunctionNo, in *symtab.Frame) FunctionNo {
	p := r.Program
	f := p.Functions[around]
	k := nameKey{f.Object, f.Module, in.Function}
	n, ok := r.inlinedNames[k]
	if !ok {
		if own, found := p.Objects[f.Object].called(in.Function, p.Modules[f.Module].Name); found {
			n = r.tableFunction(f.Object, own)
		} else {
			n = p.function(Function{Object: f.Object, Module: p.module(f.Object, unknownModule, ""), Name: in.Function, Kind: Inlined, Scope: symtab.ModuleScope, Line: in.Start}, 0)
		}
		r.inlinedNames[k] = n
	}
	return n
}

// called finds a function by its name for people: the module's own, or the only
// one.
func (o *Object) called(name, module string) (symtab.Function, bool) {
	candidates := o.table.Functions.Named(name)
	for _, i := range candidates {
		f := o.table.Functions.At(i)
		if len(candidates) == 1 || module != unknownModule && o.table.Modules[f.Module].Name == module {
			return f, true
		}
	}
	return symtab.Function{}, false
}
