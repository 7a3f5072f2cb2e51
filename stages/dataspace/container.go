package dataspace

import (
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/types"
)

// containing says that an aggregate has another one as a member or base class.
type containing struct {
	typ    types.TypeNo
	offset int64 // of the member, bytes
}

// container finds the aggregate that a pointer to one of its members or base
// classes is used to reach: code that steps from a list's link to what it links
// does that. It must be the only one with something of the accessed size there;
// a constant that is stored may be a number of any kind.
func (o *object) container(at value, a *insn.Access, constant bool) (root, bool) {
	if o.containers == nil {
		o.findContainers()
	}
	t := o.types
	use := types.Use{Size: a.Size, Float: a.Class == insn.Float}
	var found root
	for _, c := range o.containers[t.Strip(at.typ)] {
		offset := c.offset + at.offset
		if offset < 0 || offset >= t.Types[c.typ].Size {
			continue
		}
		way := t.Descend(c.typ, offset, use)
		leaf := &t.Types[t.element(way[len(way)-1].Type)]
		fits := !leaf.Kind.Aggregate() && leaf.Size == int64(a.Size) && (leaf.Float == use.Float || constant)
		if len(way) < 2 || !fits && !t.SharesBits(c.typ, offset, a.Size) {
			continue
		}
		if found.ok {
			return root{}, false
		}
		found = root{ok: true, typ: c.typ, variable: types.None, offset: offset, method: MethodContainer}
	}
	return found, found.ok
}

func (o *object) findContainers() {
	t := o.types
	o.containers = map[types.TypeNo][]containing{}
	for n := range t.Types {
		x := &t.Types[n]
		if !x.Kind.Aggregate() || x.Kind == types.Union {
			continue
		}
		for m := x.First; m < x.End(); m++ {
			inner := t.Strip(t.Members[m].Type)
			if t.Types[inner].Kind.Aggregate() {
				o.containers[inner] = append(o.containers[inner], containing{types.TypeNo(n), t.Members[m].Offset})
			}
		}
	}
}
