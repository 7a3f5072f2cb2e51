package dataspace

import "stackmill/stages/loadobject/types"

// relation is how what an operand leads into, by its type alone, fits a variable
// at the data address.
type relation uint8

const (
	relationNone  relation = iota // nothing of the type is there
	relationBytes                 // bytes, which anything may be put into
	relationPart                  // it is there, in the variable or as the whole
	relationName                  // the operand shows hardly more than a size: the variable has the name
)

// relate returns how an operand that counts from a pointer fits the variable at the
// data address.
func (s *Space) relate(o *loadObject, op *operand, w addressInfo, behind bool) relation {
	t, v := w.object.types, &w.object.types.Variables[w.variable]
	// A watchpoint's address may be any byte that is watched.
	last := int64(0)
	if behind {
		last = maxWatch - 1
	}
	for d := int64(0); d <= last; d++ {
		left := maxEmbedded
		if t.embeds(v.Type, w.offset+d, o.types, op, &left) {
			if op.isScalar(o.types) {
				return relationName
			}
			return relationPart
		}
	}
	way := t.Descend(v.Type, w.offset, types.Use{})
	if len(way) == 0 {
		return relationNone
	}
	end := t.Strip(way[len(way)-1].Type)
	leaf := &t.Types[t.element(end)]
	if op.isScalar(o.types) {
		size := o.types.Types[o.types.Strip(op.typ)].Size
		if size == 1 || !leaf.Kind.Aggregate() && leaf.Size == size {
			return relationName
		}
	}
	if t.Types[end].Kind == types.Array && leaf.Size == 1 && !leaf.Kind.Aggregate() {
		return relationBytes
	}
	return relationNone
}

// isScalar reports whether all that is known of what an operand leads into is that it
// is a scalar of a type.
func (op *operand) isScalar(t typeTable) bool {
	typ := &t.Types[t.Strip(op.typ)]
	return op.variable == types.None && !typ.Kind.Aggregate() && typ.Kind != types.Array
}

// maxEmbedded bounds the members that are looked at for what an operand leads into.
const maxEmbedded = 4096

// embeds reports whether an operand's access is at an offset of a type: to what its
// own type names there, as a whole or as a member of any depth.
func (t typeTable) embeds(typ types.TypeNo, offset int64, of typeTable, op *operand, left *int) bool {
	typ = t.Strip(typ)
	x := &t.Types[typ]
	if sameType(t, typ, of, of.Strip(op.typ)) && offset >= op.offset && offset < op.offset+max(op.size, 1) {
		return true
	}
	if x.Kind == types.Array {
		inner := t.Strip(x.Elem)
		if size := t.Types[inner].Size; size > 0 && offset >= 0 {
			offset %= size
		}
		if *left--; *left < 0 {
			return false
		}
		return t.embeds(inner, offset, of, op, left)
	}
	if !x.Kind.Aggregate() || offset < 0 {
		return false
	}
	for m := x.First; m < x.End(); m++ {
		member := &t.Members[m]
		if *left--; *left < 0 || member.Offset > offset {
			break
		}
		if t.embeds(member.Type, offset-member.Offset, of, op, left) {
			return true
		}
	}
	return false
}

// sameType reports whether types, of two load objects perhaps, are the same.
func sameType(a typeTable, x types.TypeNo, b typeTable, y types.TypeNo) bool {
	if a.Table == b.Table {
		return x == y
	}
	p, q := &a.Types[x], &b.Types[y]
	return p.Kind == q.Kind && p.Size == q.Size && p.Name == q.Name && p.Name != ""
}
