package build

import (
	"cmp"
	"encoding/binary"
	"slices"

	"stackmill/stages/loadobject/types"
)

// reconcile compares the members of an equal aggregate: if they point to different
// types of one name, it is unknown to which.
func (g *typeGraph) reconcile(x made) {
	members := g.membersOf(&g.types[x.raw])
	t := &g.table.Types[x.number]
	for i := range min(len(members), int(t.Members)) {
		m := &g.table.Members[int(t.First)+i]
		if m.Type != members[i].Type {
			m.Type = g.vague(m.Type, 0)
		}
	}
}

// vague returns a type that points to declarations of aggregates only.
func (g *typeGraph) vague(typ types.TypeNo, depth int) types.TypeNo {
	x := g.table.Types[typ]
	switch {
	case x.Kind.Aggregate():
		if x.Name == "" || x.Size < 0 {
			return typ
		}
		return g.add(types.Type{Kind: x.Kind, Name: x.Name, Size: -1, Count: -1}, g.first[typ])
	case x.Elem == 0 || depth == maxDepth:
		return typ
	}
	x.Elem = g.vague(x.Elem, depth+1)
	return g.add(x, g.first[typ])
}

// membersOf returns the members of a raw type, sorted by where they begin.
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

// bitField computes where the bits of a member are. Before version 4 they are counted
// from the most significant bit of the storage.
func (g *typeGraph) bitField(m *types.Member, r *rawMember) {
	bit := r.dataBit
	switch {
	case bit >= 0:
	case r.bitOffset == notTold:
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
