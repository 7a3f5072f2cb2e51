package build

import (
	"cmp"
	"slices"
	"strings"

	"stackmill/stages/loadobject/types"
)

// typeGraph builds the types of a table from the raw types. It merges types with equal layouts,
// because each unit repeats the types of its headers. It builds only types that variables and
// functions use.
type typeGraph struct {
	*reader
	table       *types.Table
	keys        []keyedNumber[rawTypeNo] // all types by key, sorted
	built       []types.TypeNo           // by raw type: its number + 1, 0 if not built yet, or inProgress
	layouts     []layout
	definitions map[aggregateName]*definition
	known       map[types.Type]types.TypeNo // all types but complete aggregates
	unique      map[uint64]types.TypeNo     // complete aggregates by layout
	first       []rawTypeNo                 // by type: the first raw type
	waiting     []builtType                 // aggregates without their members
	others      []builtType                 // further raw types of an aggregate
	function    func(scope rawScopeNo) (name string, linked bool)
}

type builtType struct {
	raw    rawTypeNo
	number types.TypeNo
}

// inProgress marks a raw type in typeGraph.built whose type is under construction.
const inProgress = -1

// maxDepth bounds chains of types.
const maxDepth = 200

func newTypeGraph(r *reader, t *types.Table) *typeGraph {
	g := &typeGraph{
		reader:      r,
		table:       t,
		keys:        sortedKeys[rawTypeNo](len(r.types), func(i int) uint64 { return r.types[i].key }),
		built:       make([]types.TypeNo, len(r.types)),
		layouts:     make([]layout, len(r.types)),
		definitions: map[aggregateName]*definition{},
		known:       map[types.Type]types.TypeNo{},
		unique:      map[uint64]types.TypeNo{},
		first:       []rawTypeNo{types.None},
	}
	t.Types = []types.Type{{Size: -1, Count: -1}}
	g.groupMembers()
	g.borrowNames()
	for i := range r.types {
		if x := &r.types[i]; x.kind.Aggregate() && !x.declared && x.name != "" {
			n := aggregateName{x.kind == types.Union, x.name}
			d := g.definitions[n]
			if d == nil {
				d = &definition{}
				g.definitions[n] = d
			}
			d.raws = append(d.raws, rawTypeNo(i))
		}
	}
	return g
}

// groupMembers sorts the members by aggregate, and sets each aggregate's range of them.
func (g *typeGraph) groupMembers() {
	slices.SortStableFunc(g.members, func(a, b rawMember) int { return cmp.Compare(a.owner, b.owner) })
	for i := range g.members {
		t := &g.types[g.members[i].owner]
		if t.parts == 0 {
			t.first = int32(i)
		}
		t.parts++
	}
}

// borrowNames gives an unnamed aggregate or enumeration the name of the first typedef of it in the
// same scope. A type in a type unit gets the qualified name and the unit of an entry that refers to
// it.
func (g *typeGraph) borrowNames() {
	for _, x := range g.signatureTypes {
		if n := g.find(x.key); n != types.None && g.types[n].unit == 0 {
			g.types[n].unit = x.unit
		}
	}
	for i := range g.types {
		by := &g.types[i]
		inTypeUnit := by.elem&bySignature != 0 && (by.declared || by.kind == types.Void)
		if by.kind != types.Typedef && !inTypeUnit || by.name == "" {
			continue
		}
		n := g.find(by.elem)
		if n == types.None {
			continue
		}
		t := &g.types[n]
		if !t.kind.Aggregate() && t.kind != types.Enumeration {
			continue
		}
		if t.name == "" && t.around == by.around || inTypeUnit && strings.HasSuffix(by.name, "::"+t.name) {
			t.name = by.name
		}
	}
}

// find returns the raw type with the key, None if there is none.
func (g *typeGraph) find(key uint64) rawTypeNo {
	if key&bySignature != 0 {
		key = g.signatureTypes[key&^bySignature].key
	}
	return findKey(g.keys, key)
}

// typ takes the key of a type and returns the type's number in the table.
func (g *typeGraph) typ(key uint64) types.TypeNo { return g.make(g.find(key), 0) }

// make takes a raw type and returns the type's number in the table. It builds the type on the first
// call.
func (g *typeGraph) make(raw rawTypeNo, depth int) types.TypeNo {
	if raw == types.None || depth == maxDepth || g.built[raw] == inProgress {
		return 0
	}
	if n := g.built[raw]; n > 0 {
		return n - 1
	}
	g.built[raw] = inProgress
	n := g.build(raw, depth)
	g.built[raw] = n + 1
	return n
}

func (g *typeGraph) build(raw rawTypeNo, depth int) types.TypeNo {
	t := &g.types[raw]
	x := types.Type{Kind: t.kind, Float: t.float, Complex: t.complex, Name: t.name, Size: t.size, Count: -1}
	elem := func() types.TypeNo { return g.make(g.find(t.elem), depth+1) }
	switch t.kind {
	case types.Void: // an entry without a kind of its own, such as a packed type
		return elem()
	case types.Structure, types.Class, types.Union:
		return g.aggregate(raw, depth)
	case types.Base, types.Unspecified:
	case types.Enumeration:
		if under := g.find(t.elem); x.Size < 0 && under != types.None {
			x.Size = g.types[under].size
		}
	case types.Array:
		return g.array(t, elem(), raw)
	case types.Subroutine:
		x.Elem, x.Size = elem(), -1
	case types.MemberPointer:
		if x.Elem = elem(); x.Size < 0 {
			x.Size = 8
			if g.table.Types[g.table.Strip(x.Elem)].Kind == types.Subroutine {
				x.Size = 16
			}
		}
	case types.Pointer, types.Reference:
		x.Elem = elem()
	default:
		x.Elem = elem()
		x.Size = g.table.Types[x.Elem].Size
	}
	return g.intern(x, raw)
}

// intern returns the number of a type, and adds the type if it is new. It is not for aggregates
// with a definition.
func (g *typeGraph) intern(x types.Type, raw rawTypeNo) types.TypeNo {
	n, ok := g.known[x]
	if !ok {
		n = types.TypeNo(len(g.table.Types))
		g.table.Types = append(g.table.Types, x)
		g.first = append(g.first, raw)
		g.known[x] = n
	}
	return n
}

// array builds an array type for each dimension, the last one innermost. An entry may describe a
// descriptor that points to the data, as for an allocatable array in Fortran: then array builds a
// pointer to the array, as large as the descriptor.
func (g *typeGraph) array(t *rawType, elem types.TypeNo, raw rawTypeNo) types.TypeNo {
	counts := g.counts[t.first : t.first+t.parts]
	if len(counts) == 0 {
		counts = []int64{-1}
	}
	if len(counts) > maxDepth {
		return 0
	}
	for i, n := range slices.Backward(counts) {
		x := types.Type{Kind: types.Array, Elem: elem, Count: n, Size: -1}
		if size := g.table.Types[elem].Size; n >= 0 && size >= 0 && (size == 0 || n <= maxExtent/size) {
			x.Size = n * size
		}
		if i == 0 && t.size >= 0 && !t.descriptor {
			x.Size = t.size
		}
		elem = g.intern(x, raw)
	}
	if t.descriptor {
		elem = g.intern(types.Type{Kind: types.Pointer, Elem: elem, Count: -1, Size: max(t.size, 8)}, raw)
	}
	return elem
}

// aggregate builds an aggregate, or returns an equal one that was built before.
func (g *typeGraph) aggregate(raw rawTypeNo, depth int) types.TypeNo {
	t := &g.types[raw]
	if t.declared {
		definition := g.find(t.elem)
		if definition == types.None {
			definition = g.definition(t, 0)
		}
		if definition != types.None {
			return g.make(definition, depth+1)
		}
		return g.intern(types.Type{Kind: t.kind, Name: t.name, Size: -1, Count: -1}, raw)
	}
	h := g.hash(t.key, 0, false)
	n, ok := g.unique[h]
	if ok {
		if t.name != "" {
			g.others = append(g.others, builtType{raw, n})
		}
		return n
	}
	n = types.TypeNo(len(g.table.Types))
	g.table.Types = append(g.table.Types, types.Type{Kind: t.kind, Name: t.name, Size: t.size, Count: -1, Unit: t.unit})
	g.first = append(g.first, raw)
	g.unique[h] = n
	g.waiting = append(g.waiting, builtType{raw, n})
	return n
}

// complete adds the members of all aggregates.
func (g *typeGraph) complete() {
	for len(g.waiting) > 0 || len(g.others) > 0 {
		for len(g.waiting) > 0 {
			x := g.waiting[0]
			g.waiting = g.waiting[1:]
			members := g.membersOf(&g.types[x.raw])
			t := &g.table.Types[x.number]
			t.First, t.Members = types.MemberNo(len(g.table.Members)), int32(len(members))
			g.table.Members = append(g.table.Members, members...)
		}
		others := g.others
		g.others = nil
		for _, x := range others {
			g.reconcile(x)
		}
	}
}

// setOwners sets, for aggregates, the function in which they are declared. It clears the unit of
// aggregates whose name is unique.
func (g *typeGraph) setOwners(scope func(raw rawScopeNo) types.ScopeNo) {
	names := map[aggregateName]int{}
	name := func(x *types.Type) aggregateName { return aggregateName{x.Kind == types.Union, x.Name} }
	for i := range g.table.Types {
		if x := &g.table.Types[i]; x.Kind.Aggregate() && x.Size >= 0 && x.Name != "" {
			names[name(x)]++
		}
	}
	for i := range g.table.Types {
		x := &g.table.Types[i]
		if !x.Kind.Aggregate() {
			continue
		}
		if g.first[i] != types.None {
			x.Function = scope(g.types[g.first[i]].scope)
		}
		if names[name(x)] < 2 {
			x.Unit = 0
		}
	}
}
