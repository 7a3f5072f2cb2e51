package dataspace

import (
	"math/bits"
	"sync"

	"stackmill/stages/loadobject/insn"
)

// bit is what is known of one bit of a register: that it is 0 or 1, or which bits
// of the memory in question it comes from.
type bit struct {
	kind bitKind
	at   int8   // of a copy: which bit of the memory
	from uint64 // bits of the memory, as the access in question has them, that it depends on
}

type bitKind uint8

const (
	computed bitKind = iota
	zero
	one
	copied
)

// bits64 is the bits of a register, the least significant first. Nil is one of
// which nothing is known. They do not change once they are made.
type bits64 struct {
	bit  [64]uint8   // the kind, and what it is a copy of, shifted by atShift
	from *[64]uint64 // what each depends on, nil if none depends on anything
	all  uint64      // all that they depend on
}

// atShift leaves room for the kind of a bit.
const atShift = 2

func (b *bits64) at(n int) bit {
	if b == nil || n >= 64 {
		return bit{}
	}
	x := bit{kind: bitKind(b.bit[n] & (1<<atShift - 1)), at: int8(b.bit[n] >> atShift)}
	if b.from != nil {
		x.from = b.from[n]
	}
	return x
}

// depends are the bits of the memory that any of the bits depends on.
func (b *bits64) depends() uint64 {
	if b == nil {
		return 0
	}
	return b.all
}

// made completes bits.
func made(bit [64]bit) *bits64 {
	var all uint64
	known := false
	for i := range bit {
		all |= bit[i].from
		known = known || bit[i].kind != computed
	}
	if all == 0 && !known {
		return nil
	}
	b := &bits64{all: all}
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

// zeroBits are the bits of 0, by far the most frequent number.
var zeroBits = sync.OnceValue(func() *bits64 { return made(cleared([64]bit{}, 0)) })

// constantBits are the bits of a number.
func constantBits(n uint64) *bits64 {
	if n == 0 {
		return zeroBits()
	}
	var out [64]bit
	for i := range out {
		out[i].kind = zero + bitKind(n>>i&1)
	}
	return made(out)
}

// number is the value of the lowest n bits, if they are all known.
func (b *bits64) number(n int) (v uint64, ok bool) {
	for i := range n {
		switch b.at(i).kind {
		case zero:
		case one:
			v |= 1 << i
		default:
			return 0, false
		}
	}
	return v, true
}

// calculated is the result of an instruction on bits, which has width bytes; old is
// what the destination had.
func calculated(x *insn.Bits, from, with, old *bits64) *bits64 {
	n := 8 * x.Width
	if x.Shift > 0 {
		with = shifted(max(x.ShiftOp, insn.BitLeft), with, uint64(x.Shift), n)
	}
	if x.Not {
		with = inverted(with)
	}
	if x.Op == insn.BitXor && x.From == x.With {
		return constantBits(0)
	}
	switch x.Op {
	case insn.BitField:
		return placed(x, from, old)
	case insn.BitAnd, insn.BitOr, insn.BitXor, insn.BitChoose:
		var out [64]bit
		for i := range n {
			out[i] = joined(x.Op, from.at(i), with.at(i))
		}
		return made(cleared(out, n))
	case insn.BitAdd, insn.BitSubtract:
		sum := added(x, from, with, n)
		if x.Op == insn.BitAdd && x.From == x.With && x.Shift == 0 {
			sum = shifted(insn.BitLeft, from, 1, n)
		}
		if x.Plus != 0 {
			sum = added(x, sum, constantBits(x.Plus), n)
		}
		return sum
	case insn.BitLeftIn, insn.BitRightIn:
		return shiftedIn(x, from, with, n)
	case insn.BitLeft, insn.BitRight, insn.BitSigned, insn.BitRotate:
		if by, ok := with.number(max(bits.Len(uint(n))-1, 5)); ok {
			return shifted(x.Op, from, by, n)
		}
	}
	var out [64]bit
	for i := range n {
		out[i].from = from.depends() | with.depends()
	}
	return made(cleared(out, n))
}

// cleared has zeroes from bit n on.
func cleared(out [64]bit, n int) [64]bit {
	for i := n; i < 64; i++ {
		out[i] = bit{kind: zero}
	}
	return out
}

func inverted(b *bits64) *bits64 {
	var out [64]bit
	for i := range out {
		out[i] = not(b.at(i))
	}
	return made(out)
}

func not(b bit) bit {
	switch b.kind {
	case zero:
		return bit{kind: one}
	case one:
		return bit{kind: zero}
	}
	return bit{from: b.from}
}

// joined is one bit of and, or, exclusive or, or of either operand.
func joined(op insn.BitOp, a, b bit) bit {
	if b.kind == zero || b.kind == one {
		a, b = b, a
	}
	same := a.kind == b.kind && a.at == b.at && a.kind != computed
	switch {
	case same && op == insn.BitXor:
		return bit{kind: zero}
	case same:
		a.from |= b.from
		return a
	case op == insn.BitAnd && a.kind == zero, op == insn.BitOr && a.kind == one:
		return a
	case op == insn.BitAnd && a.kind == one, (op == insn.BitOr || op == insn.BitXor) && a.kind == zero:
		return b
	case op == insn.BitXor && a.kind == one:
		return not(b)
	}
	return bit{from: a.from | b.from}
}

// added is a sum or difference: what is carried depends on the bits below.
func added(x *insn.Bits, from, with *bits64, n int) *bits64 {
	var out [64]bit
	carries, carried := x.Carry, uint64(0)
	for i := range n {
		a, b := from.at(i), with.at(i)
		switch {
		case !carries && b.kind == zero:
			out[i] = a
		case !carries && a.kind == zero && x.Op == insn.BitAdd:
			out[i] = b
		default:
			carries = true
			carried |= a.from | b.from
			out[i].from = carried
		}
	}
	return made(cleared(out, n))
}

// shifted moves bits in the lowest n.
func shifted(op insn.BitOp, b *bits64, by uint64, n int) *bits64 {
	var out [64]bit
	d := int(by % 64)
	if n < 64 && op != insn.BitRotate {
		d = int(by % 32)
	}
	for i := range n {
		switch op {
		case insn.BitLeft:
			if out[i].kind = zero; i >= d {
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
				out[i].kind = zero
			}
		}
	}
	return made(cleared(out, n))
}

// shiftedIn moves bits, followed by the bits of another operand.
func shiftedIn(x *insn.Bits, from, with *bits64, n int) *bits64 {
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
	return made(cleared(out, n))
}

// placed moves a field of bits to another place.
func placed(x *insn.Bits, from, old *bits64) *bits64 {
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
			out[i].kind = zero
		}
	}
	return made(cleared(out, n))
}
