package dataspace

import (
	"math"
	"slices"

	"stackmill/stages/loadobject/types"
)

// value is what is known of the content of a register or stack slot.
type value struct {
	kind     valueKind
	indexed  bool             // an unknown number of elements is added
	typ      types.TypeNo     // the scalar's, or that of the address's target
	variable types.VariableNo // the variable to which the address points, None if only its type is known
	offset   int64            // bytes; the value of a number; the constant added to a scalar
	// An unknown multiple of step is added to the value; 0: nothing. An address has a step only if
	// the step is not a multiple of the size of the target's elements.
	step int64
	// origin identifies the unknown number that a scalar's step is multiplied by, 0 if there is
	// none or not only one. For a frame, it is the instruction that aligned the stack: offset is
	// relative to the stack pointer there; 0: relative to the canonical frame address.
	origin int32
}

type valueKind uint8

const (
	valueUnknown valueKind = iota
	valueNumber            // the number offset
	valueScalar            // an unknown number that is not a pointer
	valueFloat             // a scalar from read-only memory, where compilers put floating-point constants
	valueAddress           // offset bytes into an object of type typ
	valueFrame             // offset bytes from the canonical frame address
	valueThread            // offset bytes from the thread pointer
)

// typeTable derives values from the types of a load object.
type typeTable struct{ *types.Table }

// value returns what is known of a variable or member by its type.
func (t typeTable) value(typ types.TypeNo) value {
	typ = t.Strip(typ)
	switch k := t.Types[typ]; {
	case k.Kind == types.Pointer || k.Kind == types.Reference:
		if to := t.Strip(k.Elem); t.Types[to].Kind != types.Void && t.Types[to].Kind != types.Subroutine {
			return value{kind: valueAddress, typ: to, variable: types.None}
		}
	case k.Kind.Aggregate():
		// Iterators and smart pointers are structures with one pointer.
		if k.Size <= 8 {
			return t.valueAt(typ, 0, k.Size)
		}
		return value{}
	case k.Kind == types.Void || k.Kind == types.Array:
		return value{}
	}
	return value{kind: valueScalar, typ: typ}
}

// valueAt returns the value of size bytes at an offset of a type. In a union, pointers take
// precedence over numbers; the value is unknown if there are pointers of different types.
func (t typeTable) valueAt(typ types.TypeNo, offset, size int64) (found value) {
	way := t.Descend(typ, offset, types.Use{Size: int(size)})
	last := t.element(way[len(way)-1].Type)
	if t.beginsAt(way, offset) && !t.Types[last].Kind.Aggregate() {
		found = t.value(last)
	}
	pointers := 0
	left := maxEmbedded
	t.eachOverlaid(typ, offset, &left, func(leaf types.TypeNo) {
		x := &t.Types[leaf]
		if x.Kind != types.Pointer && x.Kind != types.Reference || x.Size != size {
			return
		}
		if v := t.value(leaf); pointers == 0 {
			found = v
		} else if v != found {
			found = value{}
		}
		pointers++
	})
	return found
}

// eachOverlaid calls f for each scalar that begins at an offset of a type. A union may have
// several.
func (t typeTable) eachOverlaid(typ types.TypeNo, offset int64, left *int, f func(types.TypeNo)) {
	e := t.element(typ)
	x := &t.Types[e]
	if e != t.Strip(typ) && x.Size > 0 && offset >= 0 {
		offset %= x.Size
	}
	if !x.Kind.Aggregate() {
		if offset == 0 {
			f(e)
		}
		return
	}
	for m := x.First; m < x.End(); m++ {
		member := &t.Members[m]
		if *left--; *left < 0 || member.Offset > offset {
			break
		}
		if offset-member.Offset < max(t.Types[t.Strip(member.Type)].Size, 1) {
			t.eachOverlaid(member.Type, offset-member.Offset, left, f)
		}
	}
}

// element returns the element type of an array (in all dimensions), or typ if it is not an array.
func (t typeTable) element(typ types.TypeNo) types.TypeNo {
	for typ = t.Strip(typ); t.Types[typ].Kind == types.Array; typ = t.Strip(t.Types[typ].Elem) {
	}
	return typ
}

// stride returns the size of the elements among which an address can move, 0 if it cannot.
func (t typeTable) stride(v value) int64 {
	if v.variable != types.None && t.Types[t.Strip(v.typ)].Kind != types.Array {
		return 0
	}
	return max(t.Types[t.element(v.typ)].Size, 0)
}

// plus adds a number of bytes.
func (t typeTable) plus(v value, n int64) value {
	switch v.kind {
	case valueNumber, valueFrame, valueThread, valueScalar:
		v.offset += n
		return v
	case valueUnknown:
		if n != 0 {
			return value{kind: valueScalar, offset: n}
		}
	case valueAddress:
		v.offset += n
		if v.indexed {
			return t.withIndex(v)
		}
		return v
	}
	return value{}
}

// withIndex adds an unknown number of elements to an address: elements of the member array that it
// points into, else objects of its target's type.
func (t typeTable) withIndex(v value) value {
	v.indexed = true
	if stride := t.stride(v); v.kind == valueAddress && stride > 0 && v.step == 0 && !t.inArray(v) {
		v.offset = modulo(v.offset, stride)
	}
	return v
}

// unknownStep is the step of an address to which an unknown number was added: most likely a
// multiple of the target's size, or of the size of elements of an array in the target.
const unknownStep = -1

// addMultiple adds an unknown multiple of step to an address. exactly says that every multiple is
// possible, not only some.
func (t typeTable) addMultiple(v value, step int64, exactly bool) value {
	stride := t.stride(v)
	if stride == 0 && v.variable != types.None { // the variable is not an array, but may contain some
		stride = math.MaxInt64
	}
	switch {
	case stride == 0 || step%stride == 0 || stride < math.MaxInt64 && v.variable != types.None && (step == 1 || !exactly):
	case exactly:
		v.step = step
	default:
		v.step = unknownStep
	}
	return t.withIndex(v)
}

// inArray reports whether an address points into an array that is a member of its target.
func (t typeTable) inArray(v value) bool {
	for _, step := range t.Descend(v.typ, v.offset, types.Use{}) {
		if step.Member != types.None && t.Types[t.Strip(t.Members[step.Member].Type)].Kind == types.Array {
			return true
		}
	}
	return false
}

// merge returns a value that covers both a and b, which reach an instruction on different paths.
func (t typeTable) merge(a, b value) value {
	switch {
	case a == b:
		return a
	case a.kind == valueFloat && b.kind == valueScalar && t.Types[b.typ].Float, b.kind == valueFloat && a.kind == valueScalar && t.Types[a.typ].Float:
		return value{kind: valueFloat}
	case a.kind == valueNumber && b.kind == valueNumber:
		return mergeIntegers(a, b, value{kind: valueNumber})
	case (a.kind == valueScalar || a.kind == valueNumber) && (b.kind == valueScalar || b.kind == valueNumber) && a.integer().step != 1 && b.integer().step != 1:
		return mergeIntegers(a.integer(), b.integer(), value{kind: valueScalar, origin: unknownOrigin})
	case a.kind != valueAddress || b.kind != valueAddress:
		return t.orNull(a, b)
	}
	return t.mergeAddresses(a, b)
}

// mergeAddresses returns a value that covers two addresses (see merge).
func (t typeTable) mergeAddresses(a, b value) value {
	if a.variable != b.variable { // perhaps elements of two arrays of one type
		if a, b = t.withoutVariable(a), t.withoutVariable(b); a == b {
			return a
		}
	}
	if a.variable == types.None && b.variable == types.None && a.typ != b.typ {
		if t.containsMember(a, b) {
			return a
		}
		if t.containsMember(b, a) {
			return b
		}
	}
	if a.typ == b.typ && a.variable == b.variable {
		if stride := t.stride(a); stride > 0 && modulo(a.offset, stride) == modulo(b.offset, stride) {
			return t.withIndex(a)
		}
	}
	return t.mergeMembers(a, b)
}

// mergeMembers returns a value that covers two addresses of members of aggregates (see merge).
func (t typeTable) mergeMembers(a, b value) value {
	wa, wb := t.Descend(a.typ, a.offset, types.Use{}), t.Descend(b.typ, b.offset, types.Use{})
	if len(wa) == 0 || len(wb) == 0 {
		return value{}
	}
	la, lb := wa[len(wa)-1], wb[len(wb)-1]
	a.step = gcd(a.step, b.step)
	switch {
	case a.typ == b.typ && a.variable == b.variable && slices.Equal(wa, wb) && t.inArray(a):
		a.offset = min(a.offset, b.offset) // both are elements of one array
		a.indexed = true
		return a
	case la.Type == lb.Type && !t.Types[t.Strip(la.Type)].Kind.Aggregate() && t.beginsAt(wa, a.offset) && t.beginsAt(wb, b.offset):
		return value{kind: valueAddress, typ: t.Strip(la.Type), variable: types.None} // the address of a scalar, which may be either member
	}
	return value{}
}

// containsMember reports whether whole and part are the same address: part points to a member, and
// whole to the aggregate plus the member's offset.
func (t typeTable) containsMember(whole, part value) bool {
	x := &t.Types[t.Strip(whole.typ)]
	if !x.Kind.Aggregate() {
		return false
	}
	for m := x.First; m < x.End(); m++ {
		if member := &t.Members[m]; t.Strip(member.Type) == t.Strip(part.typ) && member.Offset+part.offset == whole.offset {
			return true
		}
	}
	return false
}

// beginsAt reports whether the innermost member on a path, or one of its elements, begins at an
// offset from the start of the path's type.
func (t typeTable) beginsAt(way []types.Step, offset int64) bool {
	for _, s := range way {
		offset -= s.Offset
		if size := t.Types[t.element(s.Type)].Size; size > 0 {
			offset = modulo(offset, size)
		}
	}
	return offset == 0
}

// mergeIntegers returns a value that covers two integers (see merge): an offset plus a multiple of a
// step. merged has the kind and origin for the result.
func mergeIntegers(a, b, merged value) value {
	step := gcd(gcd(a.step, b.step), a.offset-b.offset)
	if step < 2 {
		return value{}
	}
	merged.offset, merged.step = modulo(a.offset, step), step
	return merged
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// unknownOrigin is the origin of a value whose unknown part cannot be compared to others.
const unknownOrigin = -1

// integer returns a value as an offset plus a multiple of step.
func (v value) integer() value {
	switch {
	case v.kind == valueNumber:
		return v
	case v.kind != valueScalar:
		return value{kind: valueScalar, step: 1, origin: unknownOrigin}
	case v.step == 0:
		v.step, v.origin = 1, unknownOrigin
	}
	return v
}

// isAddress reports whether a value is an address in an object of known type or on the stack.
func (v value) isAddress() bool { return v.kind == valueAddress || v.kind == valueFrame }

// sum returns a + b*scale + add.
func (t typeTable) sum(a, b value, scale, add int64) value {
	x, y := a.integer(), b.integer()
	y.offset, y.step = y.offset*scale, y.step*scale
	switch {
	case a.isAddress() && b.isAddress() || b.isAddress() && scale != 1:
		return value{}
	case a.isAddress() || a.kind == valueThread:
		return t.addInteger(a, y, add)
	case b.isAddress():
		return t.addInteger(b, x, add)
	}
	v := value{kind: valueScalar, offset: x.offset + y.offset + add, step: gcd(x.step, y.step)}
	switch {
	case x.kind == valueNumber && y.kind == valueNumber:
		v.kind = valueNumber
	case x.origin == y.origin && x.origin != 0 && x.origin != unknownOrigin:
		v.origin, v.step = x.origin, x.step+y.step
	case x.step == 0:
		v.origin = y.origin
	case y.step == 0:
		v.origin = x.origin
	case x.origin != 0 && y.origin != 0: // two factors
		v.origin = unknownOrigin
	}
	return v
}

// addInteger returns v + by + add for an address v.
func (t typeTable) addInteger(v, by value, add int64) value {
	v = t.plus(v, by.offset+add)
	switch {
	case by.step == 0:
		return v
	case v.kind == valueThread:
		return value{}
	}
	return t.addMultiple(v, max(by.step, -by.step), by.origin != 0 || by.kind == valueNumber)
}

// orNull merges an address with a null pointer: it keeps the address, since a null pointer is not
// accessed. The merge of other values is unknown.
func (t typeTable) orNull(a, b value) value {
	null := value{kind: valueNumber}
	switch {
	case a == null && b.kind == valueAddress:
		return b
	case b == null && a.kind == valueAddress:
		return a
	}
	return value{}
}

// withoutVariable returns an address in a variable as one in any object of the same type; its
// offset is within an element.
func (t typeTable) withoutVariable(v value) value {
	if v.variable == types.None {
		return v
	}
	e := t.element(v.typ)
	if size := t.Types[e].Size; size > 0 && v.offset >= 0 {
		v.offset %= size
	}
	return value{kind: valueAddress, typ: e, variable: types.None, offset: v.offset, indexed: v.indexed}
}

// modulo returns the remainder of a / b; for b > 0 it is in [0, b).
func modulo(a, b int64) int64 {
	if a %= b; a < 0 {
		a += b
	}
	return a
}
