package build

import (
	"cmp"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/types"
)

// assembly builds the table from the entries that the reader collected.
type assembly struct {
	*reader
	*typeGraph
	out      *types.Table
	scopeAt  []keyedNumber[rawScopeNo]    // functions by key, sorted
	variable []keyedNumber[rawVariableNo] // variables by key, sorted
	numbers  []types.ScopeNo              // by raw scope: its scope, else the innermost enclosing one in the table
	copies   []types.ScopeNo              // by raw function: the first scope with this origin
}

// result builds the table.
func (r *reader) result() *types.Table {
	a := &assembly{reader: r, out: &types.Table{Units: r.unitNames}}
	a.typeGraph = newTypeGraph(r, a.out)
	a.typeGraph.function = a.functionName
	a.numbers, a.copies = make([]types.ScopeNo, len(r.scopes)), make([]types.ScopeNo, len(r.scopes))
	a.scopeAt = sortedKeys[rawScopeNo](len(r.scopes), func(i int) uint64 { return r.scopes[i].key })
	a.scopeAt = slices.DeleteFunc(a.scopeAt, func(x keyedNumber[rawScopeNo]) bool { return !r.scopes[x.number].function })
	a.variable = sortedKeys[rawVariableNo](len(r.variables), func(i int) uint64 { return r.variables[i].key })
	symbols := r.symbols()
	a.define(symbols)
	a.putScopes()
	a.putVariables()
	a.putReturns()
	a.complete()
	a.extend(symbols)
	a.setOwners(a.number)
	a.out.Index()
	for _, x := range r.signatureTypes {
		if x.key == 0 {
			r.unknown++
		}
	}
	if r.unknown > 0 {
		r.Remarkf("%d types are in files or type units that were not found", r.unknown)
	}
	if r.full {
		r.Remarkf("there are too many types, variables, scopes or names: the rest are left out")
	}
	return a.out
}

// origins calls f for a scope, then for its abstract origin or specification, for the origin of
// that, and so on, until f returns false.
func (a *assembly) origins(scope rawScopeNo, f func(scope rawScopeNo) bool) {
	for range dwarf.MaxHops {
		if scope == types.None || !f(scope) {
			return
		}
		scope = findKey(a.scopeAt, a.scopes[scope].origin)
	}
}

// functionName returns a function's name; linked means that it is the linkage name. The names of
// Fortran procedures are qualified.
func (a *assembly) functionName(scope rawScopeNo) (name string, linked bool) {
	a.origins(scope, func(n rawScopeNo) bool {
		s := &a.scopes[n]
		if s.linkage != "" && !s.fortran {
			name, linked = s.linkage, true
			return false
		}
		name = cmp.Or(name, s.name)
		return true
	})
	return name, linked
}

// returned returns the key of a function's return type, 0 if it returns nothing.
func (a *assembly) returned(scope rawScopeNo) (key uint64) {
	a.origins(scope, func(n rawScopeNo) bool {
		key = a.scopes[n].typ
		return key == 0
	})
	return key
}

// putScopes adds the scopes to keep to the table, with their code.
func (a *assembly) putScopes() {
	kept := a.scopesToKeep()
	a.out.Scopes = make([]types.Scope, 1)
	for i := range a.scopes {
		s := &a.scopes[i]
		a.numbers[i] = a.numbers[s.parent]
		if i == 0 || s.rangeCount == 0 {
			continue
		}
		var returned types.TypeNo
		if s.function && !s.inlined {
			returned = a.typ(a.returned(rawScopeNo(i)))
		}
		if kept[i] || returned != 0 {
			a.putScope(rawScopeNo(i), returned)
		}
	}
	slices.SortFunc(a.out.Ranges, func(x, y types.Range) int {
		return cmp.Or(cmp.Compare(x.Low, y.Low), cmp.Compare(y.High, x.High), cmp.Compare(x.Scope, y.Scope))
	})
}

func (a *assembly) putScope(raw rawScopeNo, returned types.TypeNo) {
	s := &a.scopes[raw]
	n := types.ScopeNo(len(a.out.Scopes))
	x := types.Scope{Parent: a.numbers[raw], Function: n, Unit: s.unit, Type: returned}
	a.numbers[raw] = n
	if s.function {
		x.Name, x.Linked = a.functionName(raw)
		x.FrameBase = slices.Clone(a.places[s.firstFrameBase : s.firstFrameBase+s.frameBaseCount])
		a.origins(raw, func(o rawScopeNo) bool {
			if a.copies[o] == 0 {
				a.copies[o] = n
			}
			return true
		})
	} else {
		x.Function = a.out.Scopes[x.Parent].Function
	}
	a.out.Scopes = append(a.out.Scopes, x)
	for _, r := range a.code[s.firstRange : s.firstRange+s.rangeCount] {
		a.out.Ranges = append(a.out.Ranges, types.Range{Low: r.Low, High: r.High, Scope: n})
	}
}

// scopesToKeep selects raw scopes: functions that are not inlined, and other scopes with variables
// or types (or whose origins have some), with the functions that enclose them.
func (a *assembly) scopesToKeep() []bool {
	kept := make([]bool, len(a.scopes))
	keep := func(n rawScopeNo) {
		if kept[n] {
			return
		}
		kept[n] = true
		for n = a.scopes[n].around; !kept[n]; n = a.scopes[n].around {
			kept[n] = true
		}
	}
	kept[0] = true
	for i := range a.variables {
		keep(a.variables[i].scope)
	}
	for i := range a.types {
		keep(a.types[i].scope)
	}
	for i := range a.scopes {
		if s := &a.scopes[i]; s.function && s.rangeCount > 0 && s.around == 0 {
			keep(rawScopeNo(i)) // lookups must find that its code has debug information
		} else if s.function && s.rangeCount > 0 && !kept[i] {
			a.origins(rawScopeNo(i), func(n rawScopeNo) bool { // inlined functions' origins have the static variables
				if kept[n] {
					keep(rawScopeNo(i))
				}
				return !kept[n]
			})
		}
	}
	return kept
}

// number returns the scope in the table for a raw scope. If there is none, it returns the first
// scope in the table with this origin.
func (a *assembly) number(raw rawScopeNo) types.ScopeNo {
	if n := a.numbers[raw]; n != 0 {
		return n
	}
	return a.copies[raw]
}

// putReturns adds the return types of functions that return pointers. It omits names for which
// functions return different types.
func (a *assembly) putReturns() {
	returned := map[string]types.TypeNo{}
	for i := range a.scopes {
		s := &a.scopes[i]
		name := s.linkage
		if name == "" && !s.fortran {
			name = s.name
		}
		if name == "" || !s.external || !s.function || s.inlined { // not callable from other objects
			continue
		}
		typ := a.typ(a.returned(rawScopeNo(i)))
		if k := a.out.Types[a.out.Strip(typ)].Kind; k != types.Pointer && k != types.Reference {
			continue
		}
		if known, ok := returned[name]; ok && known != typ {
			typ = 0
		}
		returned[name] = typ
	}
	for name, typ := range returned {
		if typ != 0 {
			a.out.Returns = append(a.out.Returns, types.ReturnType{Name: name, Type: typ})
		}
	}
	slices.SortFunc(a.out.Returns, func(x, y types.ReturnType) int { return cmp.Compare(x.Name, y.Name) })
}
