package build

import (
	"cmp"
	"encoding/binary"
	"slices"

	"stackmill/stages/loadobject/types"
)

// reconcile compares an aggregate in the table with x, another raw type of the same aggregate. If a
// member points to different types with the same name, it makes the member point to a declaration.
func (g *typeGraph) reconcile(x builtType) {
	members := g.membersOf(&g.types[x.raw])
	t := &g.table.Types[x.number]
	for i := range min(len(members), int(t.Members)) {
		m := &g.table.Members[int(t.First)+i]
		if m.Type != members[i].Type {
			m.Type = g.declarationOf(m.Type, 0)
		}
	}
}

// declarationOf returns a type in which aggregates are replaced by their declarations.
func (g *typeGraph) declarationOf(typ types.TypeNo, depth int) types.TypeNo {
	x := g.table.Types[typ]
	switch {
	case x.Kind.Aggregate():
		if x.Name == "" || x.Size < 0 {
			return typ
		}
		return g.intern(types.Type{Kind: x.Kind, Name: x.Name, Size: -1, Count: -1}, g.first[typ])
	case x.Elem == 0 || depth == maxDepth:
		return typ
	}
	x.Elem = g.declarationOf(x.Elem, depth+1)
	return g.intern(x, g.first[typ])
}

// membersOf returns the members of a raw type, sorted by position.
func (g *typeGraph) membersOf(t *rawType) []types.Member {
	raws := g.raws(t)
	out := make([]types.Member, 0, len(raws))
	for i := range raws {
		r := &raws[i]
		m := types.Member{Name: r.name, Type: g.typ(r.typ), Offset: r.offset, Base: r.base}
		if r.bits > 0 {
			g.bitField(&m, r)
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b types.Member) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Bit, b.Bit))
	})
	return out
}

// bitField computes the position of a bit field. Before version 4, bit offsets count from
// the most significant bit of the storage.
func (g *typeGraph) bitField(m *types.Member, r *rawMember) {
	bit := r.dataBit
	switch {
	case bit >= 0:
	case r.bitOffset == absent:
		bit = 0
	case g.Source.Order == binary.ByteOrder(binary.BigEndian):
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
