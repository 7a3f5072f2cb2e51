package build

import (
	"cmp"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/types"
)

// scopedVariable is a raw variable with the number of its scope.
type scopedVariable struct {
	scope types.ScopeNo
	raw   rawVariableNo
}

// staticVariable identifies a static variable, of which several units may have entries.
type staticVariable struct {
	address uint64
	thread  bool
	name    string
}

// putVariables adds the variables that have a place or an address, scope by scope.
func (a *assembly) putVariables() {
	var list []scopedVariable
	for i := range a.variables {
		if v := &a.variables[i]; v.static || v.placeCount > 0 && a.number(v.scope) != 0 {
			list = append(list, scopedVariable{a.number(v.scope), rawVariableNo(i)})
		}
	}
	slices.SortStableFunc(list, func(x, y scopedVariable) int { return cmp.Compare(x.scope, y.scope) })
	owners := a.owners(list)
	for _, x := range list {
		if !a.variables[x.raw].static || owners[a.staticVariable(x.raw)] == x {
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

func (a *assembly) staticVariable(raw rawVariableNo) staticVariable {
	v := &a.variables[raw]
	name, _, _ := a.describe(raw)
	return staticVariable{v.address, v.thread, name}
}

// owners chooses one raw variable for each static variable, if possible one in a function.
func (a *assembly) owners(list []scopedVariable) map[staticVariable]scopedVariable {
	owners := map[staticVariable]scopedVariable{}
	for _, x := range slices.Backward(list) {
		if a.variables[x.raw].static {
			if p := a.staticVariable(x.raw); x.scope != 0 || owners[p].scope == 0 {
				owners[p] = x
			}
		}
	}
	return owners
}

// putVariable adds a variable and its places to the table, and counts it in its scope.
func (a *assembly) putVariable(x scopedVariable) {
	raw := &a.variables[x.raw]
	v := types.Variable{Unit: raw.unit, Function: a.out.Scopes[x.scope].Function, Address: raw.address,
		First: int32(len(a.out.Places)), Places: raw.placeCount}
	var key uint64
	v.Name, key, v.External = a.describe(x.raw)
	v.Type = a.typ(key)
	a.out.Places = append(a.out.Places, a.places[raw.firstPlace:raw.firstPlace+raw.placeCount]...)
	n := types.VariableNo(len(a.out.Variables))
	if s := &a.out.Scopes[x.scope]; x.scope != 0 {
		if s.Variables == 0 {
			s.First = n
		}
		s.Variables++
	}
	a.out.Variables = append(a.out.Variables, v)
	switch {
	case raw.static && raw.thread:
		a.out.Threads = append(a.out.Threads, n)
	case raw.static:
		a.out.Globals = append(a.out.Globals, n)
	}
}

// describe returns a variable's name, the key of its type, and whether it is external. Each may
// come from the variable or from its origins and specifications.
func (a *assembly) describe(raw rawVariableNo) (name string, typ uint64, external bool) {
	for range dwarf.MaxHops {
		if raw == types.None {
			break
		}
		v := &a.variables[raw]
		name, typ = cmp.Or(name, v.name), cmp.Or(typ, v.typ)
		external = external || v.external
		raw = findKey(a.variable, v.origin)
	}
	return name, typ, external
}
