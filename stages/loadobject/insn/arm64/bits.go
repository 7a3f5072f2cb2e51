package arm64

import "stackmill/stages/loadobject/insn"

// bits returns the instruction's effect on bits. It knows data processing, branches, and loads and
// stores of one register.
func (w word) bits() (insn.Bits, bool) {
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
		return insn.Bits{}, uint32(w)&0x5f200000 != 0x1e000000 && uint32(w)&0x5f20fc00 != 0x1e200000 && uint32(w)&0xbfe08400 != 0x0e000400
	}
	return insn.Bits{}, false
}

// operand returns a register as an operand; the zero register becomes the constant 0.
func operand(r insn.Register) insn.BitOperand {
	if r == insn.NoRegister {
		return insn.BitOperand{}
	}
	return insn.BitOperand{Kind: insn.BitRegister, Register: r}
}

// logicalOps are and, orr, eor and ands by bits 29 and 30.
var logicalOps = [4]insn.BitOp{insn.BitAnd, insn.BitOr, insn.BitXor, insn.BitAnd}

func (w word) immediateBits() (insn.Bits, bool) {
	size := w.width()
	out := insn.Bits{Width: size, To: operand(w.reg(0)), From: operand(w.reg(5)), Sets: w.field(29, 2) == 3}
	switch v := uint32(w); {
	case v&0x1f800000 == 0x12000000:
		mask, ok := bitmask(w.field(22, 1), w.field(16, 6), w.field(10, 6))
		out.Op, out.With = logicalOps[w.field(29, 2)], insn.BitOperand{Kind: insn.BitConst, Value: mask & insn.Ones(8*size)}
		if !out.Sets {
			out.To = operand(w.regSP(0))
		}
		return out, ok
	case v&0x1f800000 == 0x13000000:
		return w.fieldBits(out), true
	case v&0x1f800000 == 0x12800000:
		at := int(16 * w.field(21, 2))
		value := uint64(w.field(5, 16)) << at
		switch w.field(29, 2) {
		case 3:
			out.Keep, out.At, out.Count, out.From = true, at, 16, insn.BitOperand{Kind: insn.BitConst, Value: value >> at}
		case 0:
			out.Count, out.From = 8*size, insn.BitOperand{Kind: insn.BitConst, Value: ^value & insn.Ones(8*size)}
		default:
			out.Count, out.From = 8*size, insn.BitOperand{Kind: insn.BitConst, Value: value}
		}
		out.Op, out.Sets = insn.BitField, false
		return out, true
	case v&0x1f800000 == 0x11000000:
		n := uint64(w.field(10, 12)) << (12 * w.field(22, 1))
		out.Op, out.From, out.With, out.Sets = w.sumOp(), operand(w.regSP(5)), insn.BitOperand{Kind: insn.BitConst, Value: n}, w.bit(29)
		if !out.Sets {
			out.To = operand(w.regSP(0))
		}
		return out, true
	case v&0x1f000000 == 0x10000000: // adr
		return insn.Bits{Op: insn.BitMix, Width: 8, To: out.To, From: insn.BitOperand{Kind: insn.BitAnything}}, true
	}
	return insn.Bits{}, false
}

// fieldBits handles sbfm, bfm and ubfm.
func (w word) fieldBits(out insn.Bits) insn.Bits {
	bits := 8 * w.width()
	first, last := int(w.field(16, 6)), int(w.field(10, 6))
	out.Op, out.Sets = insn.BitField, false
	out.Signed, out.Keep = w.field(29, 2) == 0, w.field(29, 2) == 1
	if last >= first {
		out.First, out.Count = first, last-first+1
	} else {
		out.At, out.Count = bits-first, last+1
	}
	return out
}

func (w word) registerBits() (insn.Bits, bool) {
	size := w.width()
	out := insn.Bits{Width: size, To: operand(w.reg(0)), From: operand(w.reg(5)), With: operand(w.reg(16))}
	switch v := uint32(w); {
	case v&0x1f000000 == 0x0a000000:
		out.Op, out.Not, out.Sets = logicalOps[w.field(29, 2)], w.bit(21), w.field(29, 2) == 3
		return w.shiftedBits(out)
	case v&0x1f200000 == 0x0b000000:
		out.Op, out.Sets = w.sumOp(), w.bit(29)
		return w.shiftedBits(out)
	case v&0x1f200000 == 0x0b200000: // with an extended register
		out.Sets = w.bit(29)
		return out, true
	case v&0x1fe00000 == 0x1a400000: // ccmp
		if out.To, out.Sets, out.Reads, out.Carry = (insn.BitOperand{}), true, true, true; w.bit(11) {
			out.With = insn.BitOperand{}
		}
		return out, true
	case v&0x1fe00000 == 0x1a800000:
		if out.Op, out.Reads, out.Carry = insn.BitChoose, true, true; w.bit(30) || w.bit(10) { // csinc, csinv, csneg
			out.Op = insn.BitMix
		}
		return out, true
	case v&0x5fe0f000 == 0x1ac02000:
		out.Op = [4]insn.BitOp{insn.BitLeft, insn.BitRight, insn.BitSigned, insn.BitMix}[w.field(10, 2)]
		return out, true
	case v&0x5fe00000 == 0x1ac00000, v&0x7fe00000 == 0x5ac00000: // two sources, one source
		return out, true
	case v&0x1f008000 == 0x1b000000 && w.reg(10) == insn.NoRegister: // mul
		return out, true
	}
	return insn.Bits{}, false
}

// sumOp returns the operation of add or sub.
func (w word) sumOp() insn.BitOp {
	if w.bit(30) {
		return insn.BitSubtract
	}
	return insn.BitAdd
}

// shiftOps are lsl, lsr, asr and ror by bits 22 and 23.
var shiftOps = [4]insn.BitOp{insn.BitLeft, insn.BitRight, insn.BitSigned, insn.BitRotate}

// shiftedBits adds the constant shift of the second operand to out.
func (w word) shiftedBits(out insn.Bits) (insn.Bits, bool) {
	out.Shift, out.ShiftOp = int(w.field(10, 6)), shiftOps[w.field(22, 2)]
	if out.ShiftOp == insn.BitRotate && out.Shift > 0 { // to the right
		out.Shift = 8*out.Width - out.Shift
	}
	return out, true
}

// memoryBits handles loads and stores of one general register.
func (w word) memoryBits() (insn.Bits, bool) {
	v := uint32(w)
	if v&0x3a000000 != 0x38000000 || v&0x3b200c00 == 0x38200000 || v&0x3b200400 == 0x38200400 {
		return insn.Bits{}, w.bit(26) && v&0x3a000000 == 0x28000000 // pairs of vector registers
	}
	t := w.transfer()
	switch {
	case w.bit(26), t.none:
		return insn.Bits{}, true
	case t.load:
		return insn.Bits{Op: insn.BitField, Width: t.width, To: operand(w.reg(0)), From: insn.BitOperand{Kind: insn.BitMemory}, Count: 8 * t.size, Signed: w.field(22, 2) >= 2}, true
	}
	return insn.Bits{Op: insn.BitField, Width: t.size, To: insn.BitOperand{Kind: insn.BitMemory}, From: operand(w.reg(0)), Count: 8 * t.size}, true
}

func (w word) branchBits() (insn.Bits, bool) {
	switch v := uint32(w); {
	case v&0xff000000 == 0x54000000: // b.cond
		return insn.Bits{Reads: true, Carry: true}, true
	case v&0x7e000000 == 0x34000000: // cbz
		return insn.Bits{Op: insn.BitField, Width: w.width(), From: operand(w.reg(0)), Count: 8 * w.width(), Sets: true, Reads: true, Carry: true}, true
	case v&0x7e000000 == 0x36000000: // tbz
		bit := w.field(19, 5) | w.field(31, 1)<<5
		return insn.Bits{Op: insn.BitAnd, Width: 8, From: operand(w.reg(0)), With: insn.BitOperand{Kind: insn.BitConst, Value: 1 << bit}, Sets: true, Reads: true, Carry: true}, true
	case v&0x7c000000 == 0x14000000, v&0xfffff01f == 0xd503201f: // b, bl, hints
		return insn.Bits{}, true
	}
	return insn.Bits{}, false
}
