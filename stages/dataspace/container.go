package dataspace

import (
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/types"
)

// containment is an aggregate that has another one as a member or base class, or in an array.
type containment struct {
	typ    types.TypeNo
	offset int64 // of the member, bytes
	size   int64 // of an element
	count  int64 // of elements
}

// maxArrayElements bounds the elements of an array that a pointer may point to.
const maxArrayElements = 64

// container finds the aggregate that code reaches through a pointer to a member or base class, as
// code does that goes from a list's link to the linked object. It must be the only aggregate with
// a member of the accessed size there. A stored constant may be a number of any kind.
func (o *loadObject) container(at value, a *insn.Access, constant bool) (operandTarget, bool) {
	if o.containers == nil {
		o.findContainers()
	}
	t := o.types
	use := types.Use{Size: a.Size, Float: a.Class == insn.Float}
	var found operandTarget
	for _, c := range o.containers[t.Strip(at.typ)] {
		for i := range min(c.count, maxArrayElements) {
			offset := c.offset + i*c.size + at.offset
			if offset < 0 || offset >= t.Types[c.typ].Size {
				continue
			}
			way, fit := t.DescendHint(c.typ, offset, use, types.Hint{})
			fits := fit == types.FitKind || constant && fit == types.FitSize
			if (len(way) < 2 || !fits) && !t.SharesBits(c.typ, offset, a.Size) {
				continue
			}
			if found.ok || c.count > maxArrayElements {
				return operandTarget{}, false
			}
			found = operandTarget{ok: true, typ: c.typ, variable: types.None, offset: offset, method: MethodContainer}
		}
	}
	return found, found.ok
}

func (o *loadObject) findContainers() {
	t := o.types
	o.containers = map[types.TypeNo][]containment{}
	for n := range t.Types {
		x := &t.Types[n]
		if !x.Kind.Aggregate() || x.Kind == types.Union {
			continue
		}
		for m := x.First; m < x.End(); m++ {
			of := t.Strip(t.Members[m].Type)
			inner := t.element(of)
			if e := &t.Types[inner]; e.Kind.Aggregate() {
				c := containment{typ: types.TypeNo(n), offset: t.Members[m].Offset, size: e.Size, count: 1}
				if e.Size > 0 && inner != of {
					c.count = t.Types[of].Size / e.Size
				}
				o.containers[inner] = append(o.containers[inner], c)
			}
		}
	}
}
