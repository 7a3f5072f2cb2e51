package dataspace

import (
	"math/bits"
	"sync"

	"stackmill/stages/loadobject/insn"
)

// bit is one bit of a register: 0, 1, a copy of a bit of the memory of the access, or computed.
type bit struct {
	kind bitKind
	at   int8   // of a copy: the bit of the memory
	from uint64 // bits of the access that it depends on
}

type bitKind uint8

const (
	bitComputed bitKind = iota
	bitZero
	bitOne
	bitCopied
)

// bitVector holds the bits of a register, the least significant first. It is immutable; nil is an
// unknown register.
type bitVector struct {
	bit  [64]uint8   // bit.kind, and bit.at shifted by atShift
	from *[64]uint64 // bit.from, nil if all are 0
	all  uint64      // all of from
}

// atShift leaves room for the kind of a bit.
const atShift = 2

func (b *bitVector) at(n int) bit {
	if b == nil || n >= 64 {
		return bit{}
	}
	x := bit{kind: bitKind(b.bit[n] & (1<<atShift - 1)), at: int8(b.bit[n] >> atShift)}
	if b.from != nil {
		x.from = b.from[n]
	}
	return x
}

// dependencies returns the bits of the access that any of the bits depends on.
func (b *bitVector) dependencies() uint64 {
	if b == nil {
		return 0
	}
	return b.all
}

func newBitVector(bit [64]bit) *bitVector {
	var all uint64
	known := false
	for i := range bit {
		all |= bit[i].from
		known = known || bit[i].kind != bitComputed
	}
	if all == 0 && !known {
		return nil
	}
	b := &bitVector{all: all}
	if all != 0 {
		b.from = new([64]uint64)
	}
	for i, x := range &bit {
		b.bit[i] = uint8(x.kind) | uint8(x.at)<<atShift
		if all != 0 {
			b.from[i] = x.from
		}
	}
	return b
}

// zeroBits returns the bits of 0, by far the most frequent number.
var zeroBits = sync.OnceValue(func() *bitVector { return newBitVector(clearFrom([64]bit{}, 0)) })

// constantBits returns the bits of a number.
func constantBits(n uint64) *bitVector {
	if n == 0 {
		return zeroBits()
	}
	var out [64]bit
	for i := range out {
		out[i].kind = bitZero + bitKind(n>>i&1)
	}
	return newBitVector(out)
}

// constant returns the value of the lowest n bits, if all are known.
func (b *bitVector) constant(n int) (v uint64, ok bool) {
	for i := range n {
		switch b.at(i).kind {
		case bitZero:
		case bitOne:
			v |= 1 << i
		default:
			return 0, false
		}
	}
	return v, true
}

// calculate returns the result of an instruction; old is the destination before.
func calculate(x *insn.Bits, from, with, old *bitVector) *bitVector {
	n := 8 * x.Width
	if x.Shift > 0 {
		with = shiftBits(max(x.ShiftOp, insn.BitLeft), with, uint64(x.Shift), n)
	}
	if x.Not {
		with = invert(with)
	}
	if x.Op == insn.BitXor && x.From == x.With {
		return constantBits(0)
	}
	switch x.Op {
	case insn.BitField:
		return moveField(x, from, old)
	case insn.BitAnd, insn.BitOr, insn.BitXor, insn.BitChoose:
		var out [64]bit
		for i := range n {
			out[i] = joinBit(x.Op, from.at(i), with.at(i))
		}
		return newBitVector(clearFrom(out, n))
	case insn.BitAdd, insn.BitSubtract:
		sum := addBits(x, from, with, n)
		if x.Op == insn.BitAdd && x.From == x.With && x.Shift == 0 {
			sum = shiftBits(insn.BitLeft, from, 1, n)
		}
		if x.Plus != 0 {
			sum = addBits(x, sum, constantBits(x.Plus), n)
		}
		return sum
	case insn.BitLeftIn, insn.BitRightIn:
		return shiftIn(x, from, with, n)
	case insn.BitLeft, insn.BitRight, insn.BitSigned, insn.BitRotate:
		if by, ok := with.constant(max(bits.Len(uint(n))-1, 5)); ok {
			return shiftBits(x.Op, from, by, n)
		}
	}
	var out [64]bit
	for i := range n {
		out[i].from = from.dependencies() | with.dependencies()
	}
	return newBitVector(clearFrom(out, n))
}

// clearFrom clears the bits from n on.
func clearFrom(out [64]bit, n int) [64]bit {
	for i := n; i < 64; i++ {
		out[i] = bit{kind: bitZero}
	}
	return out
}

func invert(b *bitVector) *bitVector {
	var out [64]bit
	for i := range out {
		out[i] = not(b.at(i))
	}
	return newBitVector(out)
}

func not(b bit) bit {
	switch b.kind {
	case bitZero:
		return bit{kind: bitOne}
	case bitOne:
		return bit{kind: bitZero}
	}
	return bit{from: b.from}
}

// joinBit returns one bit of and, or, exclusive or, or of a choice between operands.
func joinBit(op insn.BitOp, a, b bit) bit {
	if b.kind == bitZero || b.kind == bitOne {
		a, b = b, a
	}
	same := a.kind == b.kind && a.at == b.at && a.kind != bitComputed
	switch {
	case same && op == insn.BitXor:
		return bit{kind: bitZero}
	case same:
		a.from |= b.from
		return a
	case op == insn.BitAnd && a.kind == bitZero, op == insn.BitOr && a.kind == bitOne:
		return a
	case op == insn.BitAnd && a.kind == bitOne, (op == insn.BitOr || op == insn.BitXor) && a.kind == bitZero:
		return b
	case op == insn.BitXor && a.kind == bitOne:
		return not(b)
	}
	return bit{from: a.from | b.from}
}

// addBits returns a sum or difference: a carry depends on all bits below.
func addBits(x *insn.Bits, from, with *bitVector, n int) *bitVector {
	var out [64]bit
	carries, carried := x.Carry, uint64(0)
	for i := range n {
		a, b := from.at(i), with.at(i)
		switch {
		case !carries && b.kind == bitZero:
			out[i] = a
		case !carries && a.kind == bitZero && x.Op == insn.BitAdd:
			out[i] = b
		default:
			carries = true
			carried |= a.from | b.from
			out[i].from = carried
		}
	}
	return newBitVector(clearFrom(out, n))
}

// shiftBits shifts the lowest n bits.
func shiftBits(op insn.BitOp, b *bitVector, by uint64, n int) *bitVector {
	var out [64]bit
	d := int(by % 64)
	if n < 64 && op != insn.BitRotate {
		d = int(by % 32)
	}
	for i := range n {
		switch op {
		case insn.BitLeft:
			if out[i].kind = bitZero; i >= d {
				out[i] = b.at(i - d)
			}
		case insn.BitRotate:
			out[i] = b.at(int(modulo(int64(i-d), int64(n))))
		default:
			switch {
			case i+d < n:
				out[i] = b.at(i + d)
			case op == insn.BitSigned:
				out[i] = b.at(n - 1)
			default:
				out[i].kind = bitZero
			}
		}
	}
	return newBitVector(clearFrom(out, n))
}

// shiftIn shifts bits, and fills up with the bits of another operand.
func shiftIn(x *insn.Bits, from, with *bitVector, n int) *bitVector {
	var out [64]bit
	for i := range n {
		switch left := i - x.Count; {
		case x.Op == insn.BitRightIn && i+x.Count < n:
			out[i] = from.at(i + x.Count)
		case x.Op == insn.BitRightIn:
			out[i] = with.at(i + x.Count - n)
		case left >= 0:
			out[i] = from.at(left)
		default:
			out[i] = with.at(n + left)
		}
	}
	return newBitVector(clearFrom(out, n))
}

// moveField moves a field of bits.
func moveField(x *insn.Bits, from, old *bitVector) *bitVector {
	var out [64]bit
	n := 8 * x.Width
	for i := range n {
		switch at := i - x.At; {
		case at >= 0 && at < x.Count:
			out[i] = from.at(x.First + at)
		case x.Keep:
			out[i] = old.at(i)
		case at >= 0 && x.Signed:
			out[i] = from.at(x.First + x.Count - 1)
		default:
			out[i].kind = bitZero
		}
	}
	return newBitVector(clearFrom(out, n))
}
