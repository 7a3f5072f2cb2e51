package build

import (
	"cmp"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/types"
)

// placed is a raw variable with the number of its scope.
type placed struct {
	scope types.ScopeNo
	raw   rawVariableNo
}

// site identifies a variable that several units have.
type site struct {
	address uint64
	thread  bool
	name    string
}

// putVariables adds the variables that have a place, scope by scope.
func (a *assembly) putVariables() {
	var list []placed
	for i := range a.variables {
		if v := &a.variables[i]; v.fixed || v.placed > 0 && a.number(v.scope) != 0 {
			list = append(list, placed{a.number(v.scope), rawVariableNo(i)})
		}
	}
	slices.SortStableFunc(list, func(x, y placed) int { return cmp.Compare(x.scope, y.scope) })
	owners := a.owners(list)
	for _, x := range list {
		if !a.variables[x.raw].fixed || owners[a.site(x.raw)] == x {
			a.putVariable(x)
		}
	}
	for _, list := range [][]types.VariableNo{a.out.Globals, a.out.Threads} {
		slices.SortFunc(list, func(x, y types.VariableNo) int {
			v, w := &a.out.Variables[x], &a.out.Variables[y]
			return cmp.Or(cmp.Compare(v.Address, w.Address), cmp.Compare(a.out.Types[w.Type].Size, a.out.Types[v.Type].Size), cmp.Compare(y, x))
		})
	}
}

func (a *assembly) site(raw rawVariableNo) site {
	v := &a.variables[raw]
	name, _, _ := a.describe(raw)
	return site{v.address, v.thread, name}
}

// owners chooses one of the variables at each site, preferably one of a function.
func (a *assembly) owners(list []placed) map[site]placed {
	owners := map[site]placed{}
	for _, x := range slices.Backward(list) {
		if a.variables[x.raw].fixed {
			if p := a.site(x.raw); x.scope != 0 || owners[p].scope == 0 {
				owners[p] = x
			}
		}
	}
	return owners
}

// putVariable adds a variable with its places, and to its scope.
func (a *assembly) putVariable(x placed) {
	raw := &a.variables[x.raw]
	v := types.Variable{Unit: raw.unit, Function: a.out.Scopes[x.scope].Function, Address: raw.address,
		First: int32(len(a.out.Places)), Places: raw.placed}
	var key uint64
	v.Name, key, v.External = a.describe(x.raw)
	v.Type = a.typ(key)
	a.out.Places = append(a.out.Places, a.places[raw.places:raw.places+raw.placed]...)
	n := types.VariableNo(len(a.out.Variables))
	if s := &a.out.Scopes[x.scope]; x.scope != 0 {
		if s.Variables == 0 {
			s.First = n
		}
		s.Variables++
	}
	a.out.Variables = append(a.out.Variables, v)
	switch {
	case raw.fixed && raw.thread:
		a.out.Threads = append(a.out.Threads, n)
	case raw.fixed:
		a.out.Globals = append(a.out.Globals, n)
	}
}

// describe returns a variable's name and the key of its type: its own, or those of the
// variable that it was made from or completes.
func (a *assembly) describe(raw rawVariableNo) (name string, typ uint64, external bool) {
	for range dwarf.MaxHops {
		if raw == types.None {
			break
		}
		v := &a.variables[raw]
		if name == "" {
			name = v.name
		}
		if typ == 0 {
			typ = v.typ
		}
		external = external || v.external
		raw = findKey(a.variable, v.origin)
	}
	return name, typ, external
}
