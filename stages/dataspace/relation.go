package dataspace

import "stackmill/stages/loadobject/types"

// relation classifies the operand's static type against the variable found at the data address.
type relation uint8

const (
	relationNone  relation = iota // the variable contains nothing of the type
	relationBytes                 // the variable contains bytes, which may hold any type
	relationPart                  // the variable is or contains an object of the type
	relationName                  // the type is hardly more than a size: the variable names the object
)

// relate classifies the type of an operand that counts from a pointer against the variable at the
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
			if o.types.isScalarOnly(op.operandTarget) {
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
	if o.types.isScalarOnly(op.operandTarget) {
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

// maxEmbedded bounds the members that are searched for an operand's target.
const maxEmbedded = 4096

// embeds reports whether a type has an object of an operand's type, at any depth, whose accessed
// bytes include an offset.
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

// sameType reports whether types, perhaps of two load objects, are the same.
func sameType(a typeTable, x types.TypeNo, b typeTable, y types.TypeNo) bool {
	if a.Table == b.Table {
		return x == y
	}
	p, q := &a.Types[x], &b.Types[y]
	return p.Kind == q.Kind && p.Size == q.Size && p.Name == q.Name && p.Name != ""
}
