package dataspace

import (
	"math/bits"
	"sync"

	"stackmill/stages/loadobject/insn"
)

// bit is what is known of one bit of a register: it is 0, 1, a copy of a bit of the tracked
// access's memory, or computed.
type bit struct {
	kind bitKind
	at   int8   // for a copy: which bit of the memory it copies
	from uint64 // the bits of the access on which it depends
}

type bitKind uint8

const (
	bitComputed bitKind = iota
	bitZero
	bitOne
	bitCopied
)

// bitVector holds what is known of the bits of a register, the least significant first. It is
// immutable; nil is an unknown register.
type bitVector struct {
	bits [64]bit
	all  uint64 // union of bit.from over all bits
}

func (b *bitVector) at(n int) bit {
	if b == nil || n >= 64 {
		return bit{}
	}
	return b.bits[n]
}

// dependencies returns the bits of the tracked access on which any of b's bits depends.
func (b *bitVector) dependencies() uint64 {
	if b == nil {
		return 0
	}
	return b.all
}

// newBitVector returns a register with n bits, given by at, followed by zeros.
func newBitVector(n int, at func(i int) bit) *bitVector {
	b, known := &bitVector{}, false
	for i := range b.bits {
		b.bits[i].kind = bitZero
		if i < n {
			b.bits[i] = at(i)
		}
		b.all |= b.bits[i].from
		known = known || b.bits[i].kind != bitComputed
	}
	if b.all == 0 && !known {
		return nil
	}
	return b
}

// zeroBits returns the bits of 0, by far the most frequent number.
var zeroBits = sync.OnceValue(func() *bitVector { return newBitVector(0, nil) })

// constantBits returns the bits of a number.
func constantBits(n uint64) *bitVector {
	if n == 0 {
		return zeroBits()
	}
	return newBitVector(64, func(i int) bit { return bit{kind: bitZero + bitKind(n>>i&1)} })
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

// calculate returns the bits of an instruction's result; old is the previous value of the
// destination.
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
		return newBitVector(n, func(i int) bit { return joinBit(x.Op, from.at(i), with.at(i)) })
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
	return newBitVector(n, func(int) bit { return bit{from: from.dependencies() | with.dependencies()} })
}

func invert(b *bitVector) *bitVector {
	return newBitVector(64, func(i int) bit { return not(b.at(i)) })
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

// joinBit returns one bit of the AND, OR or XOR of a and b, or of a choice between them.
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

// addBits returns a sum or difference. Each bit depends on all lower bits, by the carry.
func addBits(x *insn.Bits, from, with *bitVector, n int) *bitVector {
	carries, carried := x.Carry, uint64(0)
	return newBitVector(n, func(i int) bit {
		a, b := from.at(i), with.at(i)
		switch {
		case !carries && b.kind == bitZero:
			return a
		case !carries && a.kind == bitZero && x.Op == insn.BitAdd:
			return b
		}
		carries = true
		carried |= a.from | b.from
		return bit{from: carried}
	})
}

// shiftBits returns the lowest n bits of b, shifted or rotated.
func shiftBits(op insn.BitOp, b *bitVector, by uint64, n int) *bitVector {
	d := int(by % 64)
	if n < 64 && op != insn.BitRotate {
		d = int(by % 32)
	}
	return newBitVector(n, func(i int) bit {
		switch {
		case op == insn.BitRotate:
			return b.at(int(modulo(int64(i-d), int64(n))))
		case op == insn.BitLeft && i >= d:
			return b.at(i - d)
		case op != insn.BitLeft && i+d < n:
			return b.at(i + d)
		case op == insn.BitSigned:
			return b.at(n - 1)
		}
		return bit{kind: bitZero}
	})
}

// shiftIn shifts bits; the vacated places get the bits of another operand.
func shiftIn(x *insn.Bits, from, with *bitVector, n int) *bitVector {
	return newBitVector(n, func(i int) bit {
		switch left := i - x.Count; {
		case x.Op == insn.BitRightIn && i+x.Count < n:
			return from.at(i + x.Count)
		case x.Op == insn.BitRightIn:
			return with.at(i + x.Count - n)
		case left >= 0:
			return from.at(left)
		default:
			return with.at(n + left)
		}
	})
}

// moveField returns the result of an instruction that moves a bit field to another position.
func moveField(x *insn.Bits, from, old *bitVector) *bitVector {
	return newBitVector(8*x.Width, func(i int) bit {
		switch at := i - x.At; {
		case at >= 0 && at < x.Count:
			return from.at(x.First + at)
		case x.Keep:
			return old.at(i)
		case at >= 0 && x.Signed:
			return from.at(x.First + x.Count - 1)
		}
		return bit{kind: bitZero}
	})
}
