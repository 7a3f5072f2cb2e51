package build

import (
	"github.com/cespare/xxhash/v2"

	"stackmill/stages/loadobject/types"
)

// layout is a hash of all properties of a type. For aggregates to which the type points, it
// includes only their names.
type layout struct {
	hash  uint64
	state uint8 // 0, inHashing or hashed
}

const (
	inHashing = 1
	hashed    = 2
)

// aggregateName is the key for finding the definition of a declared aggregate. Classes and
// structures share a name space.
type aggregateName struct {
	union bool
	name  string
}

// definition has all definitions of one name.
type definition struct {
	raws  []rawTypeNo
	state uint8
	raw   rawTypeNo // one of raws if all are equal, else None
}

func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

func mixText(h uint64, s string) uint64 { return mix(h, xxhash.Sum64String(s)) }

// hash returns the hash of a type's layout. depth is the current nesting of types; pointed means
// that the type is needed as the target of a pointer.
func (g *typeGraph) hash(key uint64, depth int, pointed bool) uint64 {
	n := g.find(key)
	if n == types.None || depth == maxDepth {
		return 1
	}
	t := &g.types[n]
	if pointed && t.name != "" && (t.kind.Aggregate() || t.kind == types.Typedef) {
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

// generic returns a kind as a number, the same for classes and structures.
func generic(k types.Kind) uint64 {
	if k == types.Class {
		k = types.Structure
	}
	return uint64(k)
}

func (g *typeGraph) layout(t *rawType, depth int) uint64 {
	h := mixText(mix(mix(4, generic(t.kind)), uint64(t.size)), t.name)
	switch {
	case t.kind.Aggregate() && t.declared:
		if g.find(t.elem) != types.None {
			return g.hash(t.elem, depth+1, false)
		}
		if d := g.definition(t, depth+1); d != types.None {
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
	case t.kind == types.Array:
		for _, n := range g.counts[t.first : t.first+t.parts] {
			h = mix(h, uint64(n))
		}
	}
	points := t.kind == types.Pointer || t.kind == types.Reference || t.kind == types.Subroutine || t.kind == types.MemberPointer
	return mix(h, g.hash(t.elem, depth+1, points))
}

func (g *typeGraph) raws(t *rawType) []rawMember { return g.members[t.first : t.first+t.parts] }

// definition returns the raw type that defines a declared aggregate, None if there is no
// definition, or several different ones.
func (g *typeGraph) definition(t *rawType, depth int) rawTypeNo {
	d := g.definitions[aggregateName{t.kind == types.Union, t.name}]
	if d == nil || t.name == "" || d.state == inHashing {
		return types.None
	}
	if d.state == 0 {
		d.state, d.raw = inHashing, d.raws[0]
		same := g.hash(g.types[d.raw].key, depth, false)
		for _, n := range d.raws[1:] {
			if g.hash(g.types[n].key, depth, false) != same {
				d.raw = types.None
				break
			}
		}
		d.state = hashed
	}
	return d.raw
}
