package dataspace

import (
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/types"
)

// use describes how an instruction accesses an operand. s is needed because a general register may
// hold a floating-point number, too.
func (f *function) use(s *state, n int, a *insn.Access) types.Use {
	u := types.Use{Size: a.Size, Float: a.Class == insn.Float, Vector: a.Class == insn.Vector,
		Part: a.Class == insn.Integer && a.Load, Store: a.Class == insn.Integer && !a.Load}
	if x := &f.code[n]; a.Store && x.Op == insn.Store && x.Source != insn.NoRegister {
		v := s.register(x.Source)
		u.Float = u.Float || v.kind == valueScalar && f.types.Types[v.typ].Float
		// A value of pointer type may be a guess about the contents of a union.
		if v.kind == valueScalar && f.types.Types[v.typ].Kind == types.Base && !u.Float {
			u.Kind = types.Base
		}
	}
	return u
}

// candidates collects the possible targets of an operand, from the variables in its registers, and
// chooses the one that the access fits best.
type candidates struct {
	types   typeTable
	use     types.Use
	best    operandTarget
	fit     types.Fit
	several bool // the access fits other targets equally well
	why     string
}

// add adds a target or, if r is not ok, the reason why a register gives none.
func (c *candidates) add(r operandTarget, why string) {
	if !r.ok {
		if c.why == "" || c.why == detailNoBase {
			c.why = why
		}
		return
	}
	fit, fits := c.types.fits(r, c.use)
	if !fits {
		c.why = detailFit
		return
	}
	low, high := min(fit, c.fit), max(fit, c.fit)
	switch {
	case !c.best.ok:
		c.best, c.fit = r, fit
	case r.variable != types.None: // the pointer leads into a variable
		if fit > c.fit {
			c.best, c.fit = r, fit
		}
	case c.types.isScalarOnly(r) && !c.types.isScalarOnly(c.best):
	case c.types.isScalarOnly(c.best) && !c.types.isScalarOnly(r):
		c.best, c.fit = r, fit
	case c.types.sameTarget(c.best, r, c.use):
		if fit > c.fit {
			c.best, c.fit = r, fit
		}
	case c.types.isBytes(r, c.use) && !c.types.isBytes(c.best, c.use):
	case c.types.isBytes(c.best, c.use) && !c.types.isBytes(r, c.use):
		c.best, c.fit = r, fit
	case low == high || c.use.Part && low >= types.FitPart:
		c.several = true
	case fit > c.fit:
		c.best, c.fit = r, fit
	}
}

// found returns the chosen target, or the reason why there is none.
func (c *candidates) found() (operandTarget, string) {
	switch {
	case c.several:
		return operandTarget{}, detailSeveral
	case !c.best.ok:
		return operandTarget{}, c.why
	}
	return c.best, ""
}

// fits returns how well an access fits a target, and whether it fits at all. An access always fits
// a variable. It may not fit the type that a pointer points to, since the pointer may have been
// cast.
func (t typeTable) fits(r operandTarget, use types.Use) (types.Fit, bool) {
	if r.wholeOnly || r.method == MethodContainer {
		return types.FitBeyond, true
	}
	way, fit := t.DescendHint(r.typ, r.offset, use, r.hint)
	if fit == types.FitBeyond && t.SharesBits(r.typ, r.offset, use.Size) { // bit fields: the used bits show which
		return types.FitKind, true
	}
	if last := way[len(way)-1].Member; fit == types.FitPart && last != types.None && t.Members[last].Bits > 0 { // a bit field that is stored in several parts
		return types.FitKind, true
	}
	x := &t.Types[t.Strip(r.typ)]
	size := int64(use.Size)
	way = t.Holding(r.typ, way, r.offset, size)
	switch {
	case r.variable != types.None, fit >= types.FitPart:
		return fit, true
	case fit != types.FitBeyond:
		return fit, false
	case x.Kind == types.Array || len(way) > 1:
		return fit, true
	case !x.Kind.Aggregate(): // several numbers from there on
		return fit, use.Vector && x.Size > 1 && size%x.Size == 0
	case r.offset == 0 && x.Size > 0 && size%x.Size == 0: // several elements
		return fit, true
	}
	return fit, r.offset+size <= x.Size
}

// sameTarget reports whether two targets are the same member (one may be reached through an
// enclosing aggregate), or scalars of the same type.
func (t typeTable) sameTarget(a, b operandTarget, use types.Use) bool {
	if a.typ == b.typ && a.offset == b.offset && a.variable == b.variable {
		return true
	}
	wa, wb := t.Descend(a.typ, a.offset, use), t.Descend(b.typ, b.offset, use)
	la, lb := wa[len(wa)-1], wb[len(wb)-1]
	if la.Member != types.None && la.Member == lb.Member {
		return true
	}
	return t.element(la.Type) == t.element(lb.Type) && (len(wa) == 1 || len(wb) == 1 || t.Types[t.element(la.Type)].Kind.Aggregate())
}

// isScalarOnly reports whether a target is only known as a scalar behind a pointer. The scalar may
// be part of an aggregate that another variable points to.
func (t typeTable) isScalarOnly(r operandTarget) bool {
	x := &t.Types[t.Strip(r.typ)]
	return r.variable == types.None && !x.Kind.Aggregate() && x.Kind != types.Array
}

// isBytes reports whether an access to several bytes is to a byte array, which may hold anything.
func (t typeTable) isBytes(r operandTarget, use types.Use) bool {
	way := t.Descend(r.typ, r.offset, use)
	last := t.Strip(way[len(way)-1].Type)
	return use.Size > 1 && t.Types[last].Kind == types.Array && t.Types[t.element(last)].Size == 1
}

// containment is an aggregate that contains another one: as a member, as a base class or in an
// array.
type containment struct {
	typ    types.TypeNo
	offset int64 // offset of the member in typ, bytes
	size   int64 // size of an element
	count  int64 // number of elements
}

// maxArrayElements bounds the length of an array in which a pointer may point to any element.
const maxArrayElements = 64

// container finds the aggregate that an instruction accesses through a pointer to a member or base
// class of the aggregate, for example the object that contains a list's link. at is the pointer. Only
// one aggregate may have a member of the accessed kind and size at the accessed offset. If constant
// is set (the instruction stores a constant), the size is enough.
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
