package insn

// bits tells what the instruction does to bits: data processing, loads and
// stores of one register, and branches.
func (w word) bits() (Bits, bool) {
	switch group := w.field(25, 4); {
	case group == 8 || group == 9:
		return w.immediateBits()
	case group == 5 || group == 13:
		return w.registerBits()
	case group&5 == 4:
		return w.memoryBits()
	case group == 10 || group == 11:
		return w.branchBits()
	case group == 7 || group == 15:
		return Bits{}, uint32(w)&0x5f200000 != 0x1e000000 && uint32(w)&0x5f20fc00 != 0x1e200000 && uint32(w)&0xbfe08400 != 0x0e000400
	}
	return Bits{}, false
}

// operand64 is a register as an operand; the zero register is 0.
func operand64(r Register) BitOperand {
	if r == NoRegister {
		return BitOperand{}
	}
	return BitOperand{Kind: BitRegister, Register: r}
}

// logicalOps has and, orr, eor and ands by bits 29 and 30.
var logicalOps = [4]BitOp{BitAnd, BitOr, BitXor, BitAnd}

func (w word) immediateBits() (Bits, bool) {
	size := w.width()
	out := Bits{Width: size, To: operand64(w.reg(0)), From: operand64(w.reg(5)), Sets: w.field(29, 2) == 3}
	switch v := uint32(w); {
	case v&0x1f800000 == 0x12000000:
		mask, ok := bitmask(w.field(22, 1), w.field(16, 6), w.field(10, 6))
		out.Op, out.With = logicalOps[w.field(29, 2)], BitOperand{Kind: BitConst, Value: mask & ones(8*size)}
		if !out.Sets {
			out.To = operand64(w.regSP(0))
		}
		return out, ok
	case v&0x1f800000 == 0x13000000:
		return w.fieldBits(out), true
	case v&0x1f800000 == 0x12800000:
		at := int(16 * w.field(21, 2))
		value := uint64(w.field(5, 16)) << at
		switch w.field(29, 2) {
		case 3:
			out.Keep, out.At, out.Count, out.From = true, at, 16, BitOperand{Kind: BitConst, Value: value >> at}
		case 0:
			out.Count, out.From = 8*size, BitOperand{Kind: BitConst, Value: ^value & ones(8*size)}
		default:
			out.Count, out.From = 8*size, BitOperand{Kind: BitConst, Value: value}
		}
		out.Op, out.Sets = BitField, false
		return out, true
	case v&0x1f800000 == 0x11000000:
		n := uint64(w.field(10, 12)) << (12 * w.field(22, 1))
		out.Op, out.From, out.With, out.Sets = w.sumOp(), operand64(w.regSP(5)), BitOperand{Kind: BitConst, Value: n}, w.bit(29)
		if !out.Sets {
			out.To = operand64(w.regSP(0))
		}
		return out, true
	case v&0x1f000000 == 0x10000000: // adr
		return Bits{Op: BitMix, Width: 8, To: out.To, From: BitOperand{Kind: BitAnything}}, true
	}
	return Bits{}, false
}

// fieldBits does sbfm, bfm and ubfm.
func (w word) fieldBits(out Bits) Bits {
	bits := 8 * w.width()
	first, last := int(w.field(16, 6)), int(w.field(10, 6))
	out.Op, out.Sets = BitField, false
	out.Signed, out.Keep = w.field(29, 2) == 0, w.field(29, 2) == 1
	if last >= first {
		out.First, out.Count = first, last-first+1
	} else {
		out.At, out.Count = bits-first, last+1
	}
	return out
}

func (w word) registerBits() (Bits, bool) {
	size := w.width()
	out := Bits{Width: size, To: operand64(w.reg(0)), From: operand64(w.reg(5)), With: operand64(w.reg(16))}
	switch v := uint32(w); {
	case v&0x1f000000 == 0x0a000000:
		out.Op, out.Not, out.Sets = logicalOps[w.field(29, 2)], w.bit(21), w.field(29, 2) == 3
		return w.shiftedBits(out)
	case v&0x1f200000 == 0x0b000000:
		out.Op, out.Sets = w.sumOp(), w.bit(29)
		return w.shiftedBits(out)
	case v&0x1f200000 == 0x0b200000: // of a part of a register
		out.Sets = w.bit(29)
		return out, true
	case v&0x1fe00000 == 0x1a400000: // ccmp
		if out.To, out.Sets, out.Reads, out.Carry = (BitOperand{}), true, true, true; w.bit(11) {
			out.With = BitOperand{}
		}
		return out, true
	case v&0x1fe00000 == 0x1a800000:
		if out.Op, out.Reads, out.Carry = BitChoose, true, true; w.bit(30) || w.bit(10) { // changed on one side
			out.Op = BitMix
		}
		return out, true
	case v&0x5fe0f000 == 0x1ac02000:
		out.Op = [4]BitOp{BitLeft, BitRight, BitSigned, BitMix}[w.field(10, 2)]
		return out, true
	case v&0x5fe00000 == 0x1ac00000, v&0x7fe00000 == 0x5ac00000: // of two, of one
		return out, true
	case v&0x1f008000 == 0x1b000000 && w.reg(10) == NoRegister: // mul
		return out, true
	}
	return Bits{}, false
}

// sumOp is add or sub.
func (w word) sumOp() BitOp {
	if w.bit(30) {
		return BitSubtract
	}
	return BitAdd
}

// shiftedBits does an operation whose second operand may be shifted by a constant:
// to the left, or else mov of it is told in full.
func (w word) shiftedBits(out Bits) (Bits, bool) {
	n, how := int(w.field(10, 6)), w.field(22, 2)
	switch {
	case n == 0:
	case how == 0:
		out.Shift = n
	case out.Op == BitOr && out.From.Kind == BitNothing && !out.Not && how < 3:
		out.Op = [3]BitOp{1: BitRight, 2: BitSigned}[how]
		out.From, out.With = out.With, BitOperand{Kind: BitConst, Value: uint64(n)}
	default:
		out.Op = BitMix
	}
	return out, true
}

// memoryBits does loads and stores of one general register.
func (w word) memoryBits() (Bits, bool) {
	v := uint32(w)
	if v&0x3a000000 != 0x38000000 || v&0x3b200c00 == 0x38200000 || v&0x3b200400 == 0x38200400 {
		return Bits{}, w.bit(26) && v&0x3a000000 == 0x28000000 // pairs of vector registers
	}
	t := w.transfer()
	switch {
	case w.bit(26), t.none:
		return Bits{}, true
	case t.load:
		return Bits{Op: BitField, Width: t.width, To: operand64(w.reg(0)), From: BitOperand{Kind: BitMemory}, Count: 8 * t.size, Signed: w.field(22, 2) >= 2}, true
	}
	return Bits{Op: BitField, Width: t.size, To: BitOperand{Kind: BitMemory}, From: operand64(w.reg(0)), Count: 8 * t.size}, true
}

func (w word) branchBits() (Bits, bool) {
	switch v := uint32(w); {
	case v&0xff000000 == 0x54000000: // b.cond
		return Bits{Reads: true, Carry: true}, true
	case v&0x7e000000 == 0x34000000: // cbz
		return Bits{Op: BitField, Width: w.width(), From: operand64(w.reg(0)), Count: 8 * w.width(), Sets: true, Reads: true, Carry: true}, true
	case v&0x7e000000 == 0x36000000: // tbz
		bit := w.field(19, 5) | w.field(31, 1)<<5
		return Bits{Op: BitAnd, Width: 8, From: operand64(w.reg(0)), With: BitOperand{Kind: BitConst, Value: 1 << bit}, Sets: true, Reads: true, Carry: true}, true
	case v&0x7c000000 == 0x14000000, v&0xfffff01f == 0xd503201f: // b, bl, hints
		return Bits{}, true
	}
	return Bits{}, false
}
