package symtab

import (
	"cmp"

	"stackmill/stages/loadobject/funcinfo"
)

// scopedName is a name and the scope in which it must be unique.
type scopedName struct {
	module int32 // 0 in ObjectScope
	scope  funcinfo.NameScope
	text   string
}

func newScopedName(module int32, scope funcinfo.NameScope, text string) scopedName {
	if scope != funcinfo.ModuleScope {
		module = 0
	}
	return scopedName{module, scope, text}
}

// restrictScopes sets BuildScope for functions whose name is not unique in its scope. It considers
// all functions of the load object, so that a function has the same scope in every recording.
func (d *Draft) restrictScopes() {
	first := make(map[scopedName]int, len(d.Functions))
	for i := range d.Functions {
		f := &d.Functions[i]
		if f.Scope == funcinfo.BuildScope || f.Kind == funcinfo.PLT { // all PLT sections are one function
			continue
		}
		n := newScopedName(f.Module, f.Scope, f.SymbolOrName())
		other, known := first[n]
		if !known {
			first[n] = i
		} else if o := &d.Functions[other]; o.Address != f.Address { // otherwise parts of one function
			o.Scope, f.Scope = funcinfo.BuildScope, funcinfo.BuildScope
		}
	}
	d.restrictInlined(first)
}

// restrictInlined sets BuildScope for functions that are only inlined and whose name is not unique
// in its scope. symbols has the names of functions with symbols, which keep their scopes.
func (d *Draft) restrictInlined(symbols map[scopedName]int) {
	list := d.Inlines.Functions
	first := make(map[scopedName]int, len(list))
	for i := range list {
		f := &list[i]
		if f.Own != 0 || f.Deeper {
			continue
		}
		n := newScopedName(f.Module, f.Scope, cmp.Or(f.Linkage, f.Name))
		_, symbol := symbols[n]
		other, known := first[n]
		switch {
		case known:
			list[other].Scope, f.Scope = funcinfo.BuildScope, funcinfo.BuildScope
		case symbol:
			f.Scope = funcinfo.BuildScope
		default:
			first[n] = i
		}
	}
}

// SymbolOrName returns the linkage name, or the readable name of a function without one.
func (f *Function) SymbolOrName() string {
	return cmp.Or(f.Linkage, f.Name)
}
