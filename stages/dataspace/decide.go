package dataspace

import (
	"stackmill/stages/symbolize/datatype"
)

// foundKey is what of a data address matters: the variable and the byte of an
// element of it, or the kind of memory.
type foundKey struct {
	load, variable, symbol int32
	offset                 int64
	kind                   string // of region
	inside                 int64
}

// inElement reduces an offset in an array of aggregates to one in an element,
// and one in an array of others to 0: all of them are one data object (S28).
func (t types) inElement(variable int32, offset int64) int64 {
	typ := t.Variables[variable].Type
	if t.Types[t.Strip(typ)].Kind != datatype.Array {
		return offset
	}
	e := &t.Types[t.element(typ)]
	switch {
	case !e.Kind.Aggregate():
		return 0
	case e.Size > 0:
		return offset % e.Size
	}
	return offset
}

// decide chooses between what the code tells and what the data address tells.
func (s *Space) decide(ref *reference, w where, has bool, inside int64) Found {
	found := Found{Location: ref.location}
	if w.found {
		return s.byAddress(ref, w, found)
	}
	known := false
	for i := range ref.operands {
		op := &ref.operands[i]
		if !op.ok {
			continue
		}
		known = true
		if !has || op.mayBe(w) {
			found.Object, found.Method = op.object, op.method
			if has && inside != none && (op.whole != op.object || op.parts) {
				found.Object = s.inside(ref.object, op, inside)
			}
			if has && op.method == MethodStack && w.kind == RegionStack {
				found.Agreement = Agrees
			}
			return found
		}
	}
	if w.symbol != none {
		found.Object, found.Method = s.symbolObject(w.object, w.symbol), MethodAddress
		if known {
			found.Agreement = Disagrees
		}
		return found
	}
	found.Object, found.Detail = ref.reason.Object(), ref.detail
	if known {
		found.Object, found.Detail, found.Agreement = NotDetermined.Object(), detailDisagree, Disagrees
	}
	return found
}

// byAddress takes the variable at the data address.
func (s *Space) byAddress(ref *reference, w where, found Found) Found {
	t := w.object.types
	at := root{ok: true, typ: t.Variables[w.variable].Type, variable: w.variable, offset: w.offset}
	found.Method = MethodAddress
	var use datatype.Use
	known := false
	for i := range ref.operands {
		op := &ref.operands[i]
		if op.frame {
			continue
		}
		if use.Size == 0 {
			use = op.use
		}
		if !op.ok {
			continue
		}
		known = true
		if near := op.offset - w.offset; ref.behind && op.variable == w.variable && ref.object == w.object && near < maxWatch && -near < maxWatch {
			found.Object, found.Method, found.Agreement = op.object, op.method, Agrees
			return found
		}
		if object := s.dataObject(w.object, at, op.use); object == op.object || s.same(object, op.object) {
			found.Object, found.Method, found.Agreement = object, op.method, Agrees
			return found
		}
	}
	found.Object = s.dataObject(w.object, at, use)
	if known {
		found.Agreement = Disagrees
	}
	return found
}

// maxWatch is how many bytes a watchpoint covers: what is accessed of them need
// not be the first.
const maxWatch = 8

// same reports whether the object at the data address is what the code means by
// another name: what a pointer leads to has none.
func (s *Space) same(address, code int32) bool {
	a, c := &s.Objects[address], &s.Objects[code]
	return c.Kind == KindScalar && c.Name == "" && (a.Kind == KindScalar || a.Kind == KindAggregate || a.Kind == KindElement)
}

// mayBe reports whether an operand can be in memory where no variable of a load
// object is.
func (op *operand) mayBe(w where) bool {
	switch {
	case op.method == MethodGlobal:
		return false
	case op.method == MethodStack:
		return w.kind != RegionSegment && w.kind != RegionKernel // stacks of threads and coroutines are anywhere else
	case op.frame:
		return true
	}
	return w.kind != RegionKernel
}

// pageSize is that of the smallest pages, maxAccess that of the longest access.
const (
	pageSize  = 4096
	maxAccess = 64
)

// inside returns the data object at a data address that is somewhere in what an
// operand accesses: accesses to a multiple of their size are taken to be aligned.
func (s *Space) inside(o *object, op *operand, address int64) int32 {
	size := o.types.Types[o.types.Strip(op.typ)].Size
	if op.size > 0 && address%op.size == 0 && op.offset%op.size == 0 {
		return op.object
	}
	if op.size <= 0 || op.offset%op.size != 0 || size%op.size != 0 {
		return op.whole
	}
	at := op.root
	at.offset += address % op.size
	return s.dataObject(o, at, datatype.Use{})
}
