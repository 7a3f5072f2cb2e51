package dataspace

import (
	"slices"
	"sort"

	"stackmill/stages/loadobject/types"
)

// registerValue is the value of a register, which follows from where debug information places a
// variable.
type registerValue struct {
	register int
	value    value
	computed bool // the variable is the register plus an offset
}

// claim says that a registerValue is valid at the instructions with indices [from, to).
type claim struct {
	registerValue
	from, to int
	scope    types.ScopeNo
	depth    int  // nesting depth of scope
	always   bool // the place is valid everywhere in scope, which may have gaps
}

// findVariableValues finds, for each instruction, the values of registers that follow from the
// places of variables.
func (f *function) findVariableValues() {
	t := f.types
	f.variableValues, f.trustedValues = make([][]registerValue, len(f.code)), make([][]registerValue, len(f.code))
	f.scopes = make([][]types.ScopeNo, len(f.code))
	if t.Table == nil {
		return
	}
	for i, last := 0, types.ScopeNo(types.None); i < len(f.code); i++ {
		innermost := t.Scope(f.code[i].address)
		if innermost == last {
			f.scopes[i] = f.scopes[i-1]
			continue
		}
		f.scopes[i], last = t.ScopesAt(f.code[i].address), innermost
	}
	list := f.claims()
	slices.SortStableFunc(list, func(a, b claim) int { return b.depth - a.depth })
	holds := func(x *claim, i int) bool { return !x.always || slices.Contains(f.scopes[i], x.scope) }
	counts := make([]int, len(f.code))
	sum := 0
	for n := range list {
		for i := list[n].from; i < list[n].to; i++ {
			if holds(&list[n], i) {
				counts[i]++
				sum++
			}
		}
	}
	all := make([]registerValue, sum)
	for i, n := range counts {
		f.variableValues[i], all = all[:0:n], all[n:]
	}
	for n := range list {
		for i := list[n].from; i < list[n].to; i++ {
			if holds(&list[n], i) {
				f.variableValues[i] = append(f.variableValues[i], list[n].registerValue)
			}
		}
	}
	for i, p := range f.variableValues {
		f.trustedValues[i] = t.trusted(p)
	}
}

// claims returns the registers' values, with where they are valid, for all variables of the
// function.
func (f *function) claims() (list []claim) {
	t := f.types
	seen := map[types.ScopeNo]bool{}
	for _, scopes := range f.scopes {
		for _, n := range scopes {
			if seen[n] {
				continue
			}
			seen[n] = true
			for v := t.Scopes[n].First; v < t.Scopes[n].End(); v++ {
				list = f.appendClaims(list, n, v)
			}
		}
	}
	return list
}

// appendClaims appends the claims that follow from the places of a variable.
func (f *function) appendClaims(list []claim, scope types.ScopeNo, v types.VariableNo) []claim {
	t := f.types
	variable := &t.Variables[v]
	for p := variable.First; p < variable.First+variable.Places; p++ {
		place := &t.Places[p]
		f.hasPointerSlots = f.hasPointerSlots || place.Kind == types.PointedFrame || place.Kind == types.PointedRegister
		r, ok := f.registerValue(v, place)
		if !ok {
			continue
		}
		x := claim{registerValue: r, scope: scope, depth: t.depth(scope), always: place.High == types.Always}
		x.from = sort.Search(len(f.code), func(i int) bool { return f.code[i].address >= place.Low })
		x.to = sort.Search(len(f.code), func(i int) bool { return f.code[i].address >= place.High })
		if place.Kind == types.EntryRegister {
			x.from, x.to, x.always = 0, 0, false
			if f.isEntry {
				x.to = min(len(f.code), 1)
			}
		}
		list = append(list, x)
	}
	return list
}

// trusted returns at most one value for each register: a pointer if a variable is one, else the
// value of the innermost variable. The value is unknown if there are pointers to different
// aggregates.
func (t typeTable) trusted(all []registerValue) []registerValue {
	if len(all) < 2 {
		return all
	}
	list := make([]registerValue, 0, len(all))
	for _, p := range all {
		i := slices.IndexFunc(list, func(t registerValue) bool { return t.register == p.register })
		switch {
		case i < 0:
			list = append(list, p)
		case list[i].value.kind == valueUnknown:
		case list[i].value.kind != valueAddress && p.value.kind == valueAddress:
			list[i] = p
		case t.contradict(list[i].value, p.value):
			list[i].value = value{}
		}
	}
	return list
}

// contradict reports whether two addresses point to different aggregates, and neither can be a
// member of the other.
func (t typeTable) contradict(a, b value) bool {
	if a.kind != valueAddress || b.kind != valueAddress || !t.Types[a.typ].Kind.Aggregate() || !t.Types[b.typ].Kind.Aggregate() {
		return false
	}
	return a.typ != b.typ && !t.containsMember(a, b) && !t.containsMember(b, a)
}

// depth returns the nesting depth of a scope.
func (t typeTable) depth(scope types.ScopeNo) (n int) {
	for ; t.Scopes[scope].Parent != 0; scope = t.Scopes[scope].Parent {
		n++
	}
	return n
}

// registerValue returns the value that a variable's place implies for a register.
func (f *function) registerValue(v types.VariableNo, p *types.Place) (registerValue, bool) {
	t := f.types
	typ := t.Variables[v].Type
	r := registerValue{register: int(p.Register)}
	if p.Register < 0 || p.Register >= registers || r.register == f.object.stackPointer() {
		return r, false
	}
	switch p.Kind {
	case types.InRegister, types.EntryRegister:
		if p.PieceSize > 0 {
			r.value = t.valueAt(typ, p.Piece, p.PieceSize)
		} else {
			r.value = t.value(typ)
		}
	case types.IsRegister:
		if r.value = t.value(typ); r.value.kind != valueAddress {
			return r, false
		}
		r.value.offset -= p.Offset
		r.computed = p.Offset != 0
	case types.AtRegister:
		r.value = value{kind: valueAddress, typ: typ, variable: v, offset: p.Piece - p.Offset}
	default:
		return r, false
	}
	return r, r.value.kind != valueUnknown
}
