package dataspace

import (
	"stackmill/stages/loadobject/types"
	"stackmill/stages/program"
)

// matchKey holds the properties of a data address that the match depends on: the variable or symbol
// there and the offset in it, or the kind of memory.
type matchKey struct {
	load     program.ObjectNo
	variable types.VariableNo
	symbol   symbolNo
	offset   int64
	kind     string // the region's kind
	inside   int64  // the data address modulo maxAccess if it may be any byte of the access, else accessStart
}

// accessStart says that the data address is the address of the first accessed byte.
const accessStart = -1

// offsetInElement reduces an offset in a variable that is an array, since all elements are one data
// object (S28): to the offset in an element if elements are aggregates, else to 0.
func (t typeTable) offsetInElement(variable types.VariableNo, offset int64) int64 {
	typ := t.Variables[variable].Type
	if t.Types[t.Strip(typ)].Kind != types.Array {
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

// decide chooses between the object that the code shows and the object at the data address. has
// says whether there is a data address.
func (s *Space) decide(ref *reference, w addressInfo, has bool, inside int64) Match {
	found := Match{Location: ref.location, Embedding: program.None}
	if w.found {
		return s.decideByAddress(ref, w, inside, found)
	}
	known := false
	for i := range ref.operands {
		op := &ref.operands[i]
		if !op.ok {
			continue
		}
		known = true
		if !has || op.canBeAt(w) {
			found.Object, found.Method = op.object, op.method
			if has {
				found.Object = s.partAt(ref.object, op, inside)
			}
			if has && op.method == MethodStack && w.kind == RegionStack {
				found.Agreement = Agrees
			}
			if w.symbol != program.None {
				found.Embedding = s.symbolObject(w.object, w.symbol)
			}
			return found
		}
	}
	if w.symbol != program.None {
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

// decideByAddress chooses when a variable is at the data address. Operands are of two kinds. One
// that is relative to a pointer names the object that the pointer points to, wherever it is (S27):
// the address confirms or contradicts it, but does not replace it. One that names a variable
// directly is replaced by the variable at the address. This variable also wins if the operands show
// nothing or only a guess.
func (s *Space) decideByAddress(ref *reference, w addressInfo, inside int64, found Match) Match {
	t := w.object.types
	at := operandTarget{ok: true, typ: t.Variables[w.variable].Type, variable: w.variable, offset: w.offset}
	var use types.Use
	var typed *operand // shows an object of a type that is not at the data address
	known, open := false, false
	for i := range ref.operands {
		op := &ref.operands[i]
		if op.frame {
			continue
		}
		if use.Size == 0 {
			use = op.use
		}
		if !op.ok {
			open = true
			continue
		}
		known = true
		if f, ok := s.confirm(ref, op, w, at, inside, found); ok {
			return f
		}
		if typed == nil && op.variable == types.None && !op.wholeOnly && op.method != MethodContainer {
			typed = op
		}
	}
	object := s.dataObject(w.object, at, use)
	switch {
	case typed != nil && !open:
		return s.matchOf(found, typed, typed.object, Disagrees, object)
	case known && !open:
		found.Agreement = Disagrees
	}
	found.Object, found.Method = object, MethodAddress
	return found
}

// confirm returns the match of an operand whose target is, or may be in, the variable at the data
// address; false if it is not.
func (s *Space) confirm(ref *reference, op *operand, w addressInfo, at operandTarget, inside int64, found Match) (Match, bool) {
	object := s.dataObject(w.object, at, op.use)
	switch {
	case ref.behind && ref.object == w.object && op.isNear(w.object.types, w):
		return s.matchOf(found, op, s.partAt(ref.object, op, inside), Agrees, op.object), true
	case object == op.object || op.whole == op.object && op.holds(ref.object, w):
		return s.matchOf(found, op, op.object, Agrees, op.object), true
	case op.variable != types.None:
		return found, false
	}
	switch s.relate(ref.object, op, w, ref.behind) {
	case relationName:
		return s.matchOf(found, op, object, Agrees, object), true
	case relationPart:
		return s.matchOf(found, op, s.partAt(ref.object, op, inside), Agrees, object), true
	case relationBytes:
		return s.matchOf(found, op, s.partAt(ref.object, op, inside), Unchecked, object), true
	}
	return found, false
}

// matchOf returns the match of an operand. Its Embedding is embedding, the object at the data
// address, unless both objects are in the same aggregate.
func (s *Space) matchOf(f Match, op *operand, object ObjectNo, a Agreement, embedding ObjectNo) Match {
	f.Object, f.Method, f.Agreement = object, op.method, a
	if s.outermost(object) != s.outermost(embedding) {
		f.Embedding = embedding
	}
	return f
}

// outermost returns the outermost aggregate that contains a data object, else the object itself.
func (s *Space) outermost(n ObjectNo) ObjectNo {
	for s.Objects[n].Kind == KindElement {
		n = s.Objects[n].Parent
	}
	return n
}

// isNear reports whether a watchpoint that reported the data address may cover an operand's target.
// All elements of an array count as one.
func (op *operand) isNear(t typeTable, w addressInfo) bool {
	d := op.offset - w.offset
	if v := w.variable; op.variable == v && t.Types[t.Strip(t.Variables[v].Type)].Kind == types.Array {
		if size := t.Types[t.element(t.Variables[v].Type)].Size; size > 0 {
			d = modulo(d+size/2, size) - size/2
		}
	}
	return op.variable == w.variable && d < maxWatch && -d < maxWatch
}

// holds reports whether a data address is among the bytes that an operand accesses.
func (op *operand) holds(o *loadObject, w addressInfo) bool {
	return o == w.object && op.variable == w.variable && w.offset >= op.offset && w.offset < op.offset+op.size
}

// maxWatch is the number of bytes that a watchpoint covers. The access may begin at any of these
// bytes.
const maxWatch = 8

// canBeAt reports whether an operand can be at a data address where no load object's variable is.
func (op *operand) canBeAt(w addressInfo) bool {
	switch {
	case op.method == MethodGlobal:
		return false
	case op.method == MethodStack:
		return w.kind != RegionSegment && w.kind != RegionKernel // the stacks of threads and coroutines may be anywhere else
	case op.frame:
		return true
	}
	return w.kind != RegionKernel
}

// pageSize and maxAccess are the sizes of the smallest page and of the largest access, in bytes.
const (
	pageSize  = 4096
	maxAccess = 64
)

// partAt returns the data object of an operand or, for a data address that may be inside the
// access, the element there.
func (s *Space) partAt(o *loadObject, op *operand, address int64) ObjectNo {
	if address == accessStart || op.whole == op.object && !op.parts {
		return op.object
	}
	return s.insideOperand(o, op, address)
}

// insideOperand returns the data object at a data address that may be any byte of an operand's
// access. It assumes that accesses are aligned: if the offset in the object is a multiple of the
// access's size, so is the address.
func (s *Space) insideOperand(o *loadObject, op *operand, address int64) ObjectNo {
	size := o.types.Types[o.types.Strip(op.typ)].Size
	if op.size > 0 && address%op.size == 0 && op.offset%op.size == 0 {
		return op.object
	}
	if op.size <= 0 || op.offset%op.size != 0 || size%op.size != 0 {
		return op.whole
	}
	at := op.operandTarget
	at.offset += address % op.size
	return s.dataObject(o, at, types.Use{})
}

// relation says whether the variable at the data address contains an object of an operand's type.
type relation uint8

const (
	relationNone  relation = iota // the variable contains no object of the type
	relationBytes                 // the variable contains bytes, which may hold any type
	relationPart                  // the variable is or contains an object of the type
	relationName                  // the type says hardly more than a size: show the variable
)

// relate compares an operand's type with the variable at the data address. The operand must be
// relative to a pointer. behind says that any byte of a watchpoint may have been reported.
func (s *Space) relate(o *loadObject, op *operand, w addressInfo, behind bool) relation {
	t, v := w.object.types, &w.object.types.Variables[w.variable]
	// A watchpoint may report any of the bytes that it covers.
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

// maxEmbedded bounds how many members of a type are searched for an operand's target.
const maxEmbedded = 4096

// embeds reports whether a type contains, at any depth, an object of an operand's type, such that
// the operand's bytes in this object include the byte at offset.
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

// sameType reports whether two types are the same. They may be of different load objects.
func sameType(a typeTable, x types.TypeNo, b typeTable, y types.TypeNo) bool {
	if a.Table == b.Table {
		return x == y
	}
	p, q := &a.Types[x], &b.Types[y]
	return p.Kind == q.Kind && p.Size == q.Size && p.Name == q.Name && p.Name != ""
}
