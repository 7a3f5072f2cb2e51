package x86

import (
	"math/bits"

	"stackmill/stages/loadobject/insn"
)

// bits returns the instruction's effect on bits.
func (d *decoder) bits(f form) (insn.Bits, bool) {
	w := bitDecoder{effectDecoder: effectDecoder{decoder: d, form: f}}
	switch {
	case d.encoding == vex && d.number >= 2:
		return w.extension()
	case d.encoding != plain:
		return insn.Bits{}, d.onlyVectors()
	case d.number == 0:
		return w.legacy()
	case d.number == 1:
		return w.twoByte()
	}
	return insn.Bits{}, d.onlyVectors()
}

type bitDecoder struct{ effectDecoder }

// setSize sets the operands' size: one byte if byteWide is set, else the operand size.
func (w *bitDecoder) setSize(byteWide bool) {
	if w.size = 1; !byteWide {
		w.size = w.decoder.size('v')
	}
}

func bitOperand(p location) insn.BitOperand {
	switch p.kind {
	case inMemory:
		return insn.BitOperand{Kind: insn.BitMemory}
	case inSecondByte:
		return insn.BitOperand{Kind: insn.BitRegister, Register: p.reg, High: true}
	}
	return insn.BitOperand{Kind: insn.BitRegister, Register: p.reg}
}

func (w *bitDecoder) inRM() insn.BitOperand  { return bitOperand(w.rm()) }
func (w *bitDecoder) inReg() insn.BitOperand { return bitOperand(w.modrmReg()) }
func (w *bitDecoder) ax() insn.BitOperand {
	return bitOperand(location{inRegister, w.general(numberAX)})
}

// constant returns an immediate of the operands' size.
func (w *bitDecoder) constant(n int64) insn.BitOperand {
	return insn.BitOperand{Kind: insn.BitConst, Value: uint64(n) & insn.Ones(8*w.size)}
}

// both returns the effect of an operation on a and b that writes its result to a.
func (w *bitDecoder) both(op insn.BitOp, a, b insn.BitOperand) insn.Bits {
	return insn.Bits{Op: op, Width: w.size, To: a, From: a, With: b, Sets: true}
}

// copied returns the effect of moving n bytes into a register or memory, zero- or sign-extended.
func (w *bitDecoder) copied(to, from insn.BitOperand, n int, signed bool) insn.Bits {
	return insn.Bits{Op: insn.BitField, Width: w.size, To: to, From: from, Count: 8 * n, Signed: signed}
}

// arithmetic returns the effect of operation n, which is in ModRM.reg or in bits 3 to 5 of the
// opcode.
func (w *bitDecoder) arithmetic(n byte, a, b insn.BitOperand) insn.Bits {
	out := w.both([8]insn.BitOp{insn.BitAdd, insn.BitOr, insn.BitAdd, insn.BitSubtract, insn.BitAnd, insn.BitSubtract, insn.BitXor, insn.BitSubtract}[n&7], a, b)
	if n&7 == 5 && a == b {
		out.Op = insn.BitXor // the result is 0
	}
	out.Carry = n&7 == 2 || n&7 == 3
	if n&7 == 7 { // a comparison
		out.To = insn.BitOperand{}
	}
	return out
}

// legacy handles opcodes of one byte.
func (w *bitDecoder) legacy() (insn.Bits, bool) {
	op := w.op
	w.setSize(op&1 == 0)
	switch {
	case op < 0x40:
		return w.arithmeticRow()
	case op < 0x50:
		w.setSize(false)
		return w.both(insn.BitAdd, bitOperand(w.opcodeReg()), w.constant(1)), true
	case op < 0x60:
		return w.pushPop()
	case op >= 0x70 && op < 0x80: // jcc
		return w.condition(insn.Bits{}), true
	case op >= 0x80 && op < 0x84:
		return w.arithmetic(w.reg(), w.inRM(), w.constant(w.imm)), true
	case op >= 0x84 && op < 0x8e, op >= 0xb0 && op < 0xc0, op == 0x63, op == 0xc6, op == 0xc7:
		return w.moveOrTest()
	case op >= 0xd8 && op < 0xe0: // x87
		return insn.Bits{}, true
	}
	return w.others()
}

// arithmeticRow handles add, or, adc, sbb, and, sub, xor and cmp. Each has 8 opcodes, of which the
// first six are such an operation.
func (w *bitDecoder) arithmeticRow() (insn.Bits, bool) {
	switch op := w.op; {
	case op&7 < 2:
		return w.arithmetic(op>>3, w.inRM(), w.inReg()), true
	case op&7 < 4:
		return w.arithmetic(op>>3, w.inReg(), w.inRM()), true
	case op&7 < 6:
		return w.arithmetic(op>>3, w.ax(), w.constant(w.imm)), true
	}
	return insn.Bits{}, false
}

// moveOrTest handles mov, movsxd, lea and test.
func (w *bitDecoder) moveOrTest() (insn.Bits, bool) {
	switch op := w.op; op {
	case 0x63:
		w.setSize(false)
		to := w.inReg()
		return w.copied(to, w.inRM(), 4, true), w.long
	case 0x84, 0x85:
		return w.tested(w.inRM(), w.inReg()), true
	case 0x88, 0x89:
		return w.copied(w.inRM(), w.inReg(), w.size, false), true
	case 0x8a, 0x8b:
		return w.copied(w.inReg(), w.inRM(), w.size, false), true
	case 0x8d:
		return w.sumOfAddress(), true
	case 0xc6, 0xc7:
		return w.copied(w.inRM(), w.constant(w.imm), w.size, false), w.reg() == 0
	default:
		if op < 0xb0 {
			return insn.Bits{}, false
		}
		w.setSize(op < 0xb8)
		return w.copied(bitOperand(w.opcodeReg()), w.constant(w.imm), w.size, false), true
	}
}

// tested returns the effect of test on a and b: it only sets the flags.
func (w *bitDecoder) tested(a, b insn.BitOperand) insn.Bits {
	out := w.both(insn.BitAnd, a, b)
	out.To = insn.BitOperand{}
	return out
}

// others handles the remaining opcodes of one byte.
func (w *bitDecoder) others() (insn.Bits, bool) {
	switch w.op {
	case 0x69, 0x6b:
		w.setSize(false)
		return insn.Bits{Op: insn.BitMix, Width: w.size, To: w.inReg(), From: w.inRM(), Sets: true}, true
	case 0x98:
		w.setSize(false)
		return w.copied(w.ax(), w.ax(), w.size/2, true), true
	case 0x99: // the sign of the accumulator
		w.setSize(false)
		dx := bitOperand(location{inRegister, w.general(numberDX)})
		return insn.Bits{Op: insn.BitField, Width: w.size, To: dx, From: w.ax(), First: 8*w.size - 1, Count: 1, Signed: true}, true
	case 0xa8, 0xa9:
		return w.tested(w.ax(), w.constant(w.imm)), true
	case 0xc0, 0xc1, 0xd0, 0xd1, 0xd2, 0xd3:
		return w.shift()
	case 0xc9, 0xcc, 0xe8, 0xe9, 0xeb:
		return insn.Bits{}, true
	case 0xf6, 0xf7:
		return w.unary()
	case 0xfe, 0xff:
		return w.group5()
	}
	return insn.Bits{}, w.kind() == insn.Nop
}

func (w *bitDecoder) pushPop() (insn.Bits, bool) {
	w.size = w.decoder.size('s')
	r, stack := bitOperand(w.opcodeReg()), insn.BitOperand{Kind: insn.BitMemory}
	if w.op < 0x58 {
		return w.copied(stack, r, w.size, false), true
	}
	return w.copied(r, stack, w.size, false), true
}

// sumOfAddress handles lea. Its operands are the registers in the address.
func (w *bitDecoder) sumOfAddress() insn.Bits {
	w.setSize(false)
	out := insn.Bits{Op: insn.BitAdd, Width: w.size, To: w.inReg(), With: w.constant(int64(w.disp))}
	if w.memory != computed {
		return insn.Bits{Op: insn.BitMix, Width: w.size, To: out.To, From: insn.BitOperand{Kind: insn.BitAnything}}
	}
	if w.base >= 0 {
		out.From = insn.BitOperand{Kind: insn.BitRegister, Register: w.general(byte(w.base))}
	}
	if w.index >= 0 {
		out.With = insn.BitOperand{Kind: insn.BitRegister, Register: w.general(byte(w.index))}
		out.Shift = bits.TrailingZeros8(w.scale)
		out.Plus = uint64(w.disp)
	}
	return out
}

// shift handles the shifts and rotations, which ModRM.reg selects.
func (w *bitDecoder) shift() (insn.Bits, bool) {
	op := [8]insn.BitOp{insn.BitRotate, insn.BitRotate, insn.BitMix, insn.BitMix, insn.BitLeft, insn.BitRight, insn.BitLeft, insn.BitSigned}[w.reg()]
	by := w.constant(1)
	switch {
	case w.op < 0xd0:
		by = w.constant(w.imm)
	case w.op >= 0xd2:
		by = insn.BitOperand{Kind: insn.BitRegister, Register: w.general(numberCX)}
	}
	out := w.both(op, w.inRM(), by)
	out.Carry = op == insn.BitMix // rotation through the carry flag
	if w.reg() == 1 {             // rotation to the right
		if by.Kind != insn.BitConst {
			out.Op = insn.BitMix
		}
		out.With.Value = uint64(8*w.size) - by.Value&uint64(max(8*w.size, 32)-1)%uint64(8*w.size)
	}
	return out, true
}

// unary handles test, not and neg. It returns false for multiplications and divisions, which have
// two results.
func (w *bitDecoder) unary() (insn.Bits, bool) {
	a := w.inRM()
	switch w.reg() {
	case 0, 1:
		return w.tested(a, w.constant(w.imm)), true
	case 2:
		out := w.both(insn.BitXor, a, w.constant(-1))
		out.Sets = false
		return out, true
	case 3:
		return w.both(insn.BitSubtract, a, w.constant(-1)), true // as in a difference, each bit depends on lower ones
	}
	return insn.Bits{}, false
}

// group5 handles inc, dec and indirect calls and jumps.
func (w *bitDecoder) group5() (insn.Bits, bool) {
	switch w.reg() {
	case 0, 1:
		return w.both(insn.BitAdd, w.inRM(), w.constant(1)), true
	case 2, 4:
		w.size = w.decoder.size('s')
		return insn.Bits{Op: insn.BitMix, Width: w.size, From: w.inRM(), Sets: true, Reads: true}, true
	}
	return insn.Bits{}, false
}

// condition adds to b that the instruction reads the flags that its condition tests.
func (w *bitDecoder) condition(b insn.Bits) insn.Bits {
	b.Reads = true
	b.Carry = w.op&^1&15 == 2 || w.op&^1&15 == 6
	return b
}

// twoByte handles opcodes after 0f.
func (w *bitDecoder) twoByte() (insn.Bits, bool) {
	op := w.op
	w.setSize(false)
	switch {
	case op >= 0x40 && op < 0x50:
		return w.condition(insn.Bits{Op: insn.BitChoose, Width: w.size, To: w.inReg(), From: w.inReg(), With: w.inRM()}), true
	case op >= 0x80 && op < 0x90:
		return w.condition(insn.Bits{}), true
	case op >= 0x90 && op < 0xa0: // 0 or 1
		w.size = 1
		return w.condition(insn.Bits{Op: insn.BitAnd, Width: 1, To: w.inRM(), From: insn.BitOperand{Kind: insn.BitAnything}, With: w.constant(1)}), true
	}
	switch op {
	case 0xaf:
		out := w.both(insn.BitMix, w.inReg(), w.inRM())
		return out, true
	case 0xa4, 0xac: // shld, shrd
		out := w.both(insn.BitLeftIn, w.inRM(), w.inReg())
		if out.Count = int(w.imm) & max(8*w.size-1, 31); op == 0xac {
			out.Op = insn.BitRightIn
		}
		return out, true
	case 0xa5, 0xad: // by the counter
		return w.both(insn.BitMix, w.inRM(), w.inReg()), false
	case 0xa3, 0xab, 0xb3, 0xbb: // bit numbers in registers
		if w.memory != register {
			return insn.Bits{}, false
		}
		return w.both(insn.BitMix, w.inRM(), w.inReg()), true
	case 0xba:
		return w.bitTest(), true
	case 0xb6, 0xb7, 0xbe, 0xbf:
		return w.widened(), true
	}
	if op >= 0xc8 && op < 0xd0 {
		r := bitOperand(w.opcodeReg())
		return insn.Bits{Op: insn.BitMix, Width: w.size, To: r, From: r}, true
	}
	return insn.Bits{}, w.kind0F() == insn.Nop || w.onlyVectors()
}

// bitTest handles bt, bts, btr and btc with a bit number in the instruction.
func (w *bitDecoder) bitTest() insn.Bits {
	bit := uint64(1) << (w.imm & int64(8*w.size-1))
	a := w.inRM()
	out := w.both([8]insn.BitOp{4: insn.BitAnd, 5: insn.BitOr, 6: insn.BitAnd, 7: insn.BitXor}[w.reg()&7], a, insn.BitOperand{Kind: insn.BitConst, Value: bit})
	switch w.reg() {
	case 4:
		out.To = insn.BitOperand{}
	case 6:
		out.With.Value = ^bit & insn.Ones(8*w.size)
	}
	out.Old = w.reg() > 4
	return out
}

func (w *bitDecoder) widened() insn.Bits {
	to, n := w.inReg(), 2
	whole := w.size
	if w.op&1 == 0 {
		n = 1
	}
	w.size = n
	from := w.inRM()
	w.size = whole
	return w.copied(to, from, n, w.op >= 0xbe)
}

// extension handles the instructions on bits with a VEX prefix: andn, bzhi, bextr, shlx, sarx,
// shrx, rorx.
func (w *bitDecoder) extension() (insn.Bits, bool) {
	w.size = w.decoder.size('y')
	rm, to, by := w.inRM(), w.inReg(), insn.BitOperand{Kind: insn.BitRegister, Register: w.general(w.vvvv)}
	switch {
	case w.number == 3 && w.op == 0xf0:
		all := uint64(8 * w.size)
		return insn.Bits{Op: insn.BitRotate, Width: w.size, To: to, From: rm, With: insn.BitOperand{Kind: insn.BitConst, Value: (all - uint64(w.imm)%all) % all}}, true
	case w.number == 2 && w.op == 0xf2: // andn: its second operand is inverted
		return insn.Bits{Op: insn.BitAnd, Width: w.size, To: to, From: rm, With: by, Not: true, Sets: true}, true
	case w.number == 2 && w.op == 0xf7 && w.pp != ppNone:
		op := [4]insn.BitOp{pp66: insn.BitLeft, ppF3: insn.BitSigned, ppF2: insn.BitRight}[w.pp]
		return insn.Bits{Op: op, Width: w.size, To: to, From: rm, With: by}, true
	case w.number == 2 && (w.op == 0xf5 || w.op == 0xf7):
		return insn.Bits{Op: insn.BitMix, Width: w.size, To: to, From: rm, With: by, Sets: true}, true
	}
	return insn.Bits{}, w.onlyVectors()
}

// onlyVectors reports whether a vector instruction uses no general register.
func (d *decoder) onlyVectors() bool {
	if d.encoding == evex || d.encoding == xop || d.number != 1 {
		return false
	}
	switch op := d.op; {
	case op == 0x2a, op == 0x6e, op == 0xc4: // from general registers
		return false
	case d.encoding == vex && op >= 0x90 && op < 0xa0: // masks
		return false
	case op == 0x0d, op == 0x18, op >= 0x10 && op < 0x18, op >= 0x28 && op < 0x30, op >= 0x50 && op < 0x80, op == 0xc2, op == 0xc6, op >= 0xd0:
		return true
	}
	return false
}
