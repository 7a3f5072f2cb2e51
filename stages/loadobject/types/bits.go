package types

import "slices"

// SharesBits reports whether size bytes of a type, from an offset on, contain a bit field and
// another member. Then the used bits must show which of them an access belongs to.
func (t *Table) SharesBits(typ TypeNo, offset int64, size int) bool {
	return size > 0 && t.bitFields[typ] && (&bitFieldSearch{t: t, left: maxTried}).find(typ, offset, int64(size), 1)
}

// TouchesBits reports whether any of the bytes belongs to a bit field. It also returns true for an
// integer next to a bit field: clang does not mark bit fields that fill their types.
func (t *Table) TouchesBits(typ TypeNo, offset int64, size int) bool {
	return size > 0 && t.bitFields[typ] && (&bitFieldSearch{t: t, left: maxTried, any: true, neighbors: true}).find(typ, offset, int64(size), 1)
}

type bitFieldSearch struct {
	t         *Table
	left      int  // members that may still be examined
	any       bool // also find bit fields that fill all of the bytes
	neighbors bool // also find integers next to bit fields
}

func (s *bitFieldSearch) find(typ TypeNo, offset, size int64, depth int) bool {
	aggregate, offset, ok := s.t.aggregate(typ, offset)
	if !ok || offset < 0 || !s.t.bitFields[aggregate] || depth == maxSteps {
		return false
	}
	a := &s.t.Types[aggregate]
	others, fills := 0, false
	for m := a.First; m < a.End(); m++ {
		x := &s.t.Members[m]
		if s.left--; s.left < 0 || x.Offset >= offset+size {
			break
		}
		low, high := s.t.extent(x)
		if high <= offset {
			continue
		}
		others++
		if x.Bits == 0 {
			if s.neighbors && s.t.isNeighbor(a, m) {
				return true
			}
			from, n := max(offset-low, 0), min(size, offset+size-low)
			if s.find(x.Type, from, n, depth+1) {
				return true
			}
			if !fills && a.Kind == Union {
				inner := bitFieldSearch{t: s.t, left: s.left, any: true}
				fills = inner.find(x.Type, from, n, depth+1)
				s.left = inner.left // a common bound: types may contain themselves
			}
			continue
		}
		if first := (x.Offset-offset)*8 + int64(x.Bit); s.any || first > 0 || first+int64(x.Bits) < size*8 {
			return true
		}
		fills = true
	}
	return fills && a.Kind == Union && others > 1
}

// isNeighbor reports whether member m is an integer (and not a bit field) next to a bit field.
func (t *Table) isNeighbor(a *Type, m MemberNo) bool {
	x := &t.Members[m]
	if kind := t.Types[t.Strip(x.Type)].Kind; kind != Base && kind != Enumeration {
		return false
	}
	low, high := t.extent(x)
	for n := max(m-1, a.First); n < min(m+2, a.End()); n++ {
		if from, to := t.extent(&t.Members[n]); t.Members[n].Bits > 0 && (from == high || to == low) {
			return true
		}
	}
	return false
}

// membersByBits returns the members of an aggregate that contain any of the used bits. The access
// begins at offset, which may lie before the aggregate. It returns none if the access belongs to no
// single one: it uses several members of a structure, or members of a union that share bits.
func (d *descent) membersByBits(aggregate TypeNo, offset int64) (list []MemberNo) {
	a := &d.t.Types[aggregate]
	ends := int64(0) // end of the preceding members
	for m := a.First; m < a.End(); m++ {
		x := &d.t.Members[m]
		low, high := d.t.extent(x)
		if low >= offset+int64(d.use.Size) {
			break
		}
		first, last := (low-offset)*8, (high-offset)*8 // bits [first, last)
		if x.Bits > 0 {
			first += int64(x.Bit)
			last = first + int64(x.Bits)
		}
		if !d.uses(first, last) {
			continue
		}
		if len(list) > 0 && (first >= ends || a.Kind == Union) {
			return nil
		}
		ends = max(ends, last)
		list = append(list, m)
	}
	return list
}

// uses reports whether the access uses any of the bits [first, last). Bit 0 is the first bit of the
// access.
func (d *descent) uses(first, last int64) bool {
	first, last = max(first, 0), min(last, int64(d.use.Size)*8)
	if d.bits == 0 || first >= last {
		return first < last
	}
	last = min(last, 64)
	return first < last && d.bits>>first<<first<<(64-last) != 0
}

// findBitFields finds the types that contain bit fields: aggregates with a bit field, and all types
// made of such types. It does not recurse, since chains of types may be long.
func (t *Table) findBitFields() {
	t.bitFields = make([]bool, len(t.Types))
	outer := make([][]TypeNo, len(t.Types)) // by type: the types that are made of it
	t.eachPart(func(of, inner TypeNo) { outer[inner] = append(outer[inner], of) })
	var found []TypeNo
	add := func(typ TypeNo) {
		if !t.bitFields[typ] {
			t.bitFields[typ] = true
			found = append(found, typ)
		}
	}
	for typ := range t.Types {
		x := &t.Types[typ]
		if slices.ContainsFunc(t.Members[x.First:x.End()], func(m Member) bool { return m.Bits > 0 }) {
			add(TypeNo(typ))
		}
	}
	for len(found) > 0 {
		typ := found[len(found)-1]
		found = found[:len(found)-1]
		for _, of := range outer[typ] {
			add(of)
		}
	}
}

// eachPart calls f for each pair of a type and a type that is a part of it.
func (t *Table) eachPart(f func(outer, inner TypeNo)) {
	for typ := range t.Types {
		x := &t.Types[typ]
		switch {
		case x.Kind == Const || x.Kind == Volatile || x.Kind == Restrict || x.Kind == Atomic || x.Kind == Typedef || x.Kind == Array:
			f(TypeNo(typ), x.Elem)
		case x.Kind.Aggregate():
			for m := x.First; m < x.End(); m++ {
				f(TypeNo(typ), t.Members[m].Type)
			}
		}
	}
}
