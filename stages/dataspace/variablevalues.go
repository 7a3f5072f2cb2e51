package dataspace

import (
	"slices"
	"sort"

	"stackmill/stages/loadobject/types"
)

// registerValue is what a variable says of a register.
type registerValue struct {
	register int
	value    value
	// computed says that the register does not hold the variable, but something at a
	// distance from it.
	computed bool
}

// claim is a registerValue with the instructions [from, to) for which it holds.
type claim struct {
	registerValue
	from, to int
	scope    types.ScopeNo
	depth    int  // of scope
	always   bool // while scope lasts, which need not be without gaps
}

// findVariableValues finds what the function's variables say of registers, by instruction.
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

// claims are the places of all variables of the function that say something of a
// register.
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

// appendClaims adds the places of one variable.
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

// trusted are of several values of a register the innermost variable's, but
// pointers before others; an unknown value if they point to different aggregates.
func (t typeTable) trusted(all []registerValue) []registerValue {
	if len(all) < 2 {
		return all
	}
	told := make([]registerValue, 0, len(all))
	for _, p := range all {
		i := slices.IndexFunc(told, func(t registerValue) bool { return t.register == p.register })
		switch {
		case i < 0:
			told = append(told, p)
		case told[i].value.kind == valueUnknown:
		case told[i].value.kind != valueAddress && p.value.kind == valueAddress:
			told[i] = p
		case t.contradict(told[i].value, p.value):
			told[i].value = value{}
		}
	}
	return told
}

// contradict reports whether two addresses lead into aggregates of which neither is in
// the other one.
func (t typeTable) contradict(a, b value) bool {
	if a.kind != valueAddress || b.kind != valueAddress || !t.Types[a.typ].Kind.Aggregate() || !t.Types[b.typ].Kind.Aggregate() {
		return false
	}
	return a.typ != b.typ && !t.containsMember(a, b) && !t.containsMember(b, a)
}

// depth is how many scopes a scope is in.
func (t typeTable) depth(scope types.ScopeNo) (n int) {
	for ; t.Scopes[scope].Parent != 0; scope = t.Scopes[scope].Parent {
		n++
	}
	return n
}

// registerValue is what a place of a variable says of a register.
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
