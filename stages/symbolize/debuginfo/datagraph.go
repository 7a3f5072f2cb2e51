package debuginfo

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"strings"

	"github.com/cespare/xxhash/v2"

	"stackmill/stages/symbolize/datatype"
)

// typeGraph makes the types of a table from those that entries tell. An object
// has the types of a header once for each unit that includes it: those of equal
// layout become one. Only what variables and functions use is made.
type typeGraph struct {
	*dataReader
	table    *datatype.Table
	keys     []keyed // of all types, sorted
	made     []int32 // by raw type: its number + 1, 0 when not made yet, inMaking
	layouts  []layout
	defined  map[aggregateName]*definition
	known    map[datatype.Type]int32 // others than complete aggregates
	unique   map[uint64]int32        // complete aggregates by layout
	first    []int32                 // by number of a type: the raw type it was made from
	waiting  []made                  // aggregates without their members
	others   []made                  // more instances of one
	function func(scope int32) (name string, linked bool)
}

type keyed struct {
	key    uint64
	number int32
}

// made says which type a raw type became.
type made struct{ raw, number int32 }

// layout is the hash of all that makes a type what it is, but of aggregates that
// it points to only their names.
type layout struct {
	hash  uint64
	state uint8 // 0, inHashing or hashed
}

const (
	inHashing = 1
	hashed    = 2
	inMaking  = -1
)

// maxDepth bounds the types that each consist of the next.
const maxDepth = 200

// aggregateName is what declarations refer to. Class and structure are one.
type aggregateName struct {
	union bool
	name  string
}

// definition are the types of one name.
type definition struct {
	raws  []int32
	state uint8
	raw   int32 // when all are one, else -1
}

func newTypeGraph(r *dataReader, t *datatype.Table) *typeGraph {
	g := &typeGraph{
		dataReader: r,
		table:      t,
		keys:       make([]keyed, len(r.types)),
		made:       make([]int32, len(r.types)),
		layouts:    make([]layout, len(r.types)),
		defined:    map[aggregateName]*definition{},
		known:      map[datatype.Type]int32{},
		unique:     map[uint64]int32{},
		first:      []int32{-1},
	}
	t.Types = []datatype.Type{{Size: -1, Count: -1}}
	for i := range r.types {
		g.keys[i] = keyed{r.types[i].key, int32(i)}
	}
	slices.SortFunc(g.keys, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	g.arrange()
	g.lend()
	for i := range r.types {
		if x := &r.types[i]; x.kind.Aggregate() && !x.declared && x.name != "" {
			n := aggregateName{x.kind == datatype.Union, x.name}
			d := g.defined[n]
			if d == nil {
				d = &definition{}
				g.defined[n] = d
			}
			d.raws = append(d.raws, int32(i))
		}
	}
	return g
}

// arrange puts the members of each aggregate together.
func (g *typeGraph) arrange() {
	slices.SortStableFunc(g.members, func(a, b rawMember) int { return cmp.Compare(a.owner, b.owner) })
	for i := range g.members {
		t := &g.types[g.members[i].owner]
		if t.parts == 0 {
			t.first = int32(i)
		}
		t.parts++
	}
}

// lend gives aggregates and enumerations without a name that of the first
// typedef beside them, and those in units of their own the qualified name by which
// others refer to them, and the unit.
func (g *typeGraph) lend() {
	for _, x := range g.signed {
		if n := g.find(x.key); n >= 0 && g.types[n].unit == 0 {
			g.types[n].unit = x.unit
		}
	}
	for i := range g.types {
		by := &g.types[i]
		signed := by.elem&bySignature != 0 && (by.declared || by.kind == datatype.Void)
		if by.kind != datatype.Typedef && !signed || by.name == "" {
			continue
		}
		n := g.find(by.elem)
		if n < 0 {
			continue
		}
		t := &g.types[n]
		if !t.kind.Aggregate() && t.kind != datatype.Enumeration {
			continue
		}
		if t.name == "" && t.around == by.around || signed && strings.HasSuffix(by.name, "::"+t.name) {
			t.name = by.name
		}
	}
}

// find returns the raw type of a key, -1 for none.
func (g *typeGraph) find(key uint64) int32 {
	if key&bySignature != 0 {
		key = g.signed[key&^bySignature].key
	}
	if key == 0 {
		return -1
	}
	i := sort.Search(len(g.keys), func(i int) bool { return g.keys[i].key >= key })
	if i == len(g.keys) || g.keys[i].key != key {
		return -1
	}
	return g.keys[i].number
}

func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

func mixText(h uint64, s string) uint64 { return mix(h, xxhash.Sum64String(s)) }

// hash returns the layout's hash. The depth tells how many types consist of
// this one; pointed that it is pointed to.
func (g *typeGraph) hash(key uint64, depth int, pointed bool) uint64 {
	n := g.find(key)
	if n < 0 || depth == maxDepth {
		return 1
	}
	t := &g.types[n]
	if pointed && t.name != "" && (t.kind.Aggregate() || t.kind == datatype.Typedef) {
		return mixText(mix(2, generic(t.kind)), t.name)
	}
	l := &g.layouts[n]
	switch l.state {
	case inHashing:
		return 3
	case 0:
		l.state = inHashing
		l.hash = g.layout(t, depth)
		l.state = hashed
	}
	return l.hash
}

// generic is a kind as far as it tells types apart.
func generic(k datatype.Kind) uint64 {
	if k == datatype.Class {
		k = datatype.Structure
	}
	return uint64(k)
}

func (g *typeGraph) layout(t *rawType, depth int) uint64 {
	h := mixText(mix(mix(4, generic(t.kind)), uint64(t.size)), t.name)
	switch {
	case t.kind.Aggregate() && t.declared:
		if g.find(t.elem) >= 0 {
			return g.hash(t.elem, depth+1, false)
		}
		if d := g.definition(t); d >= 0 {
			return g.hash(g.types[d].key, depth+1, false)
		}
		return mix(h, 5)
	case t.kind.Aggregate():
		if t.scope != 0 {
			name, _ := g.function(t.scope)
			h = mixText(h, name)
		}
		for i := range g.raws(t) {
			m := &g.members[int(t.first)+i]
			h = mixText(h, m.name)
			for _, v := range []int64{m.offset, m.bits, m.bitOffset, m.dataBit} {
				h = mix(h, uint64(v))
			}
			h = mix(h, g.hash(m.typ, depth+1, false))
		}
		return h
	case t.kind == datatype.Array:
		for _, n := range g.counts[t.first : t.first+t.parts] {
			h = mix(h, uint64(n))
		}
	}
	points := t.kind == datatype.Pointer || t.kind == datatype.Reference || t.kind == datatype.Subroutine || t.kind == datatype.MemberPointer
	return mix(h, g.hash(t.elem, depth+1, points))
}

// raws are the members of a raw type.
func (g *typeGraph) raws(t *rawType) []rawMember { return g.members[t.first : t.first+t.parts] }

// definition returns the raw type that a declaration is of, -1 when there is
// none or there are several.
func (g *typeGraph) definition(t *rawType) int32 {
	d := g.defined[aggregateName{t.kind == datatype.Union, t.name}]
	if d == nil || t.name == "" || d.state == inHashing {
		return -1
	}
	if d.state == 0 {
		d.state, d.raw = inHashing, d.raws[0]
		same := g.hash(g.types[d.raw].key, 0, false)
		for _, n := range d.raws[1:] {
			if g.hash(g.types[n].key, 0, false) != same {
				d.raw = -1
				break
			}
		}
		d.state = hashed
	}
	return d.raw
}

// typ returns the number of the type of a key.
func (g *typeGraph) typ(key uint64) int32 { return g.make(g.find(key), 0) }

func (g *typeGraph) make(raw int32, depth int) int32 {
	if raw < 0 || depth == maxDepth || g.made[raw] == inMaking {
		return 0
	}
	if n := g.made[raw]; n > 0 {
		return n - 1
	}
	g.made[raw] = inMaking
	n := g.build(raw, depth)
	g.made[raw] = n + 1
	return n
}

func (g *typeGraph) build(raw int32, depth int) int32 {
	t := &g.types[raw]
	x := datatype.Type{Kind: t.kind, Float: t.float, Name: t.name, Size: t.size, Count: -1}
	elem := func() int32 { return g.make(g.find(t.elem), depth+1) }
	switch t.kind {
	case datatype.Void: // something around another type
		return elem()
	case datatype.Structure, datatype.Class, datatype.Union:
		return g.aggregate(raw, depth)
	case datatype.Base, datatype.Unspecified:
	case datatype.Enumeration:
		if under := g.find(t.elem); x.Size < 0 && under >= 0 {
			x.Size = g.types[under].size
		}
	case datatype.Array:
		return g.array(t, elem(), raw)
	case datatype.Subroutine:
		x.Elem, x.Size = elem(), -1
	case datatype.MemberPointer:
		if x.Elem = elem(); x.Size < 0 {
			x.Size = 8
			if g.table.Types[g.table.Strip(x.Elem)].Kind == datatype.Subroutine {
				x.Size = 16
			}
		}
	case datatype.Pointer, datatype.Reference:
		x.Elem = elem()
	default:
		x.Elem = elem()
		x.Size = g.table.Types[x.Elem].Size
	}
	return g.add(x, raw)
}

// add returns the number of a type that is not a complete aggregate.
func (g *typeGraph) add(x datatype.Type, raw int32) int32 {
	n, ok := g.known[x]
	if !ok {
		n = int32(len(g.table.Types))
		g.table.Types = append(g.table.Types, x)
		g.first = append(g.first, raw)
		g.known[x] = n
	}
	return n
}

// array makes an array of each dimension's elements; the last dimension is the
// innermost. One whose data are elsewhere, as Fortran's that are allocated, is a
// pointer to it, as large as what tells its place and its bounds.
func (g *typeGraph) array(t *rawType, elem int32, raw int32) int32 {
	counts := g.counts[t.first : t.first+t.parts]
	if len(counts) == 0 {
		counts = []int64{-1}
	}
	if len(counts) > maxDepth {
		return 0
	}
	for i, n := range slices.Backward(counts) {
		x := datatype.Type{Kind: datatype.Array, Elem: elem, Count: n, Size: -1}
		if size := g.table.Types[elem].Size; n >= 0 && size >= 0 && (size == 0 || n <= maxExtent/size) {
			x.Size = n * size
		}
		if i == 0 && t.size >= 0 && !t.descriptor {
			x.Size = t.size
		}
		elem = g.add(x, raw)
	}
	if t.descriptor {
		elem = g.add(datatype.Type{Kind: datatype.Pointer, Elem: elem, Count: -1, Size: max(t.size, 8)}, raw)
	}
	return elem
}

// aggregate makes an aggregate, or finds one that is equal.
func (g *typeGraph) aggregate(raw int32, depth int) int32 {
	t := &g.types[raw]
	if t.declared {
		definition := g.find(t.elem)
		if definition < 0 {
			definition = g.definition(t)
		}
		if definition >= 0 {
			return g.make(definition, depth+1)
		}
		return g.add(datatype.Type{Kind: t.kind, Name: t.name, Size: -1, Count: -1}, raw)
	}
	h := g.hash(t.key, 0, false)
	n, ok := g.unique[h]
	if ok {
		if t.name != "" {
			g.others = append(g.others, made{raw, n})
		}
		return n
	}
	n = int32(len(g.table.Types))
	g.table.Types = append(g.table.Types, datatype.Type{Kind: t.kind, Name: t.name, Size: t.size, Count: -1, Unit: t.unit})
	g.first = append(g.first, raw)
	g.unique[h] = n
	g.waiting = append(g.waiting, made{raw, n})
	return n
}

// complete gives all aggregates their members.
func (g *typeGraph) complete() {
	for len(g.waiting) > 0 || len(g.others) > 0 {
		for len(g.waiting) > 0 {
			x := g.waiting[0]
			g.waiting = g.waiting[1:]
			members := g.membersOf(&g.types[x.raw])
			t := &g.table.Types[x.number]
			t.First, t.Members = int32(len(g.table.Members)), int32(len(members))
			g.table.Members = append(g.table.Members, members...)
		}
		others := g.others
		g.others = nil
		for _, x := range others {
			g.reconcile(x)
		}
	}
}

// reconcile compares the members of an equal aggregate: where they point to
// different types of one name, it is not known to which.
func (g *typeGraph) reconcile(x made) {
	members := g.membersOf(&g.types[x.raw])
	t := &g.table.Types[x.number]
	for i := range min(len(members), int(t.Members)) {
		m := &g.table.Members[int(t.First)+i]
		if m.Type != members[i].Type {
			m.Type = g.vague(m.Type)
		}
	}
}

// vague returns a type with declarations for the aggregates that it points to.
func (g *typeGraph) vague(typ int32) int32 {
	x := g.table.Types[typ]
	switch {
	case x.Kind.Aggregate():
		if x.Name == "" || x.Size < 0 {
			return typ
		}
		return g.add(datatype.Type{Kind: x.Kind, Name: x.Name, Size: -1, Count: -1}, g.first[typ])
	case x.Elem == 0:
		return typ
	}
	x.Elem = g.vague(x.Elem)
	return g.add(x, g.first[typ])
}

// membersOf returns the members of a raw type, sorted by where they begin.
func (g *typeGraph) membersOf(t *rawType) []datatype.Member {
	raws := g.raws(t)
	out := make([]datatype.Member, 0, len(raws))
	for i := range raws {
		r := &raws[i]
		m := datatype.Member{Name: r.name, Type: g.typ(r.typ), Offset: r.offset, Base: r.base}
		if r.bits > 0 {
			g.bitField(&m, r)
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b datatype.Member) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Bit, b.Bit))
	})
	return out
}

// bitField tells where the bits of a member are. Before version 4 they are
// counted from the most significant bit of the storage.
func (g *typeGraph) bitField(m *datatype.Member, r *rawMember) {
	bit := r.dataBit
	switch {
	case bit >= 0:
	case r.bitOffset < 0:
		bit = 0
	case g.source.Order == binary.ByteOrder(binary.BigEndian):
		bit = r.bitOffset
	default:
		size := r.size
		if size < 0 {
			size = g.table.Types[m.Type].Size
		}
		bit = max(size, 0)*8 - r.bitOffset - r.bits
	}
	at := max(r.offset*8+bit, 0)
	m.Offset, m.Bit, m.Bits = at/8, int32(at%8), int32(min(r.bits, 1<<16))
}

// tell keeps the unit of aggregates that share their name with another, and the
// function of those that one declares.
func (g *typeGraph) tell(scope func(raw int32) int32) {
	names := map[aggregateName]int{}
	name := func(x *datatype.Type) aggregateName { return aggregateName{x.Kind == datatype.Union, x.Name} }
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
		if g.first[i] >= 0 {
			x.Function = scope(g.types[g.first[i]].scope)
		}
		if names[name(x)] < 2 {
			x.Unit = 0
		}
	}
}
