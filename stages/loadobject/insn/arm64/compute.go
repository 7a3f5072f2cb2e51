package arm64

import (
	"math/bits"

	"stackmill/stages/loadobject/insn"
)

// address handles adr and adrp.
func (e *effect) address(w word, addr uint64) {
	distance := w.signed(5, 19)<<2 | int64(w.field(29, 2))
	if w.bit(31) {
		addr, distance = addr&^0xfff, distance<<12
	}
	e.setConst(w.reg(0), addr+uint64(distance), 8)
}

func (e *effect) setConst(r insn.Register, value uint64, width int) {
	if width == 4 {
		value = uint64(uint32(value))
	}
	if r != insn.NoRegister {
		e.Compute(insn.SetConst, r, width)
		e.Value = int64(value)
	}
}

// addConst sets a register to the sum of a constant and another register (NoRegister is 0).
func (e *effect) addConst(to, from insn.Register, value int64, width int) {
	switch {
	case to == insn.NoRegister: // a comparison
	case from == insn.NoRegister:
		e.setConst(to, uint64(value), width)
	default:
		e.Compute(insn.AddConst, to, width)
		e.Source, e.Value = from, value
	}
}

// move copies a register to another one, or 0 if from is NoRegister.
func (e *effect) move(to, from insn.Register, width int) {
	switch {
	case to == insn.NoRegister:
	case from == insn.NoRegister:
		e.setConst(to, 0, width)
	default:
		e.Compute(insn.Move, to, width)
		e.Source = from
	}
}

// addImmediate handles add and sub. Forms that set the flags cannot write the stack pointer.
func (e *effect) addImmediate(w word, _ uint64) {
	value := int64(w.field(10, 12))
	if w.bit(22) {
		value <<= 12
	}
	if w.bit(30) {
		value = -value
	}
	to, from := w.regSP(0), w.regSP(5)
	if w.bit(29) {
		to = w.reg(0)
	}
	if value == 0 {
		e.move(to, from, w.width()) // mov to or from the stack pointer
		return
	}
	e.addConst(to, from, value, w.width())
}

// logicalImmediate handles and, orr, eor and ands; orr with the zero register is mov.
func (e *effect) logicalImmediate(w word, _ uint64) {
	to := w.regSP(0)
	if w.field(29, 2) == 3 {
		to = w.reg(0)
	}
	value, ok := bitmask(w.field(22, 1), w.field(16, 6), w.field(10, 6))
	if w.field(29, 2) == 1 && w.reg(5) == insn.NoRegister && ok {
		e.setConst(to, value, w.width())
		return
	}
	e.Write(to)
}

// bitmask decodes the immediate of logical instructions: an element of 2 to 64 bits, with ones at
// its end, is rotated and then repeated to fill 64 bits.
func bitmask(n, immr, imms uint32) (mask uint64, ok bool) {
	size := uint32(1) << bits.Len32(n<<6|^imms&0x3f) >> 1
	if size < 2 {
		return 0, false
	}
	ones := imms&(size-1) + 1
	if ones == size {
		return 0, false
	}
	element := uint64(1)<<ones - 1
	if r := immr & (size - 1); r != 0 {
		element = element>>r | element<<(size-r)
		if size < 64 {
			element &= 1<<size - 1
		}
	}
	for ; size < 64; size *= 2 {
		element |= element << size
	}
	return element, true
}

// moveWide handles movz, movn and movk.
func (e *effect) moveWide(w word, _ uint64) {
	value := uint64(w.field(5, 16)) << (16 * w.field(21, 2))
	switch w.field(29, 2) {
	case 0:
		e.setConst(w.reg(0), ^value, w.width())
	case 2:
		e.setConst(w.reg(0), value, w.width())
	default:
		e.Write(w.reg(0))
	}
}

// bitfield handles sbfm, bfm and ubfm. Only lsl and extensions (sxtw, uxtb, ...) become an Op.
func (e *effect) bitfield(w word, _ uint64) {
	to, from := w.reg(0), w.reg(5)
	e.Write(to)
	op, first, last := w.field(29, 2), w.field(16, 6), w.field(10, 6)
	switch size := uint32(8 * w.width()); {
	case op == 1 || to == insn.NoRegister || from == insn.NoRegister:
		return
	case op == 2 && last+1 == first: // lsl
		e.addRegister(to, insn.NoRegister, from, 1<<(size-first), w.width())
		return
	case first != 0:
		return
	}
	if last == 7 || last == 15 || last == 31 && w.bit(31) {
		e.Compute(insn.Extend, to, w.width())
		e.Source, e.Value = from, int64(last+1)/8
	}
}

// logical handles and, orr, eor and similar instructions with registers; orr with the zero register is mov.
func (e *effect) logical(w word, _ uint64) {
	if w.field(29, 2) == 1 && !w.bit(21) && w.reg(5) == insn.NoRegister && w.field(10, 6) == 0 {
		e.move(w.reg(0), w.reg(16), w.width())
		return
	}
	e.Write(w.reg(0))
}

// addShifted handles add and sub with a shifted register.
func (e *effect) addShifted(w word, _ uint64) {
	to, from, other := w.reg(0), w.reg(5), w.reg(16)
	shift := w.field(10, 6)
	e.Write(to)
	switch {
	case to == insn.NoRegister:
	case w.bit(30) && from == other && from != insn.NoRegister && shift == 0:
		e.setConst(to, 0, w.width())
	case other == insn.NoRegister:
		e.move(to, from, w.width())
	case w.field(22, 2) == 0:
		e.addRegister(to, from, other, w.sign(30)<<shift, w.width())
	}
}

// sign returns -1 if the given bit, with which an instruction subtracts, is set, else 1.
func (w word) sign(bit uint) int64 {
	if w.bit(bit) {
		return -1
	}
	return 1
}

// multiply handles madd, msub and their variants with halves of registers.
func (e *effect) multiply(w word, _ uint64) {
	to, one, other := w.reg(0), w.reg(5), w.reg(16)
	e.Write(to)
	if to != insn.NoRegister && one != insn.NoRegister && other != insn.NoRegister {
		e.Compute(insn.MultiplyAdd, to, w.width())
		e.Source, e.Second, e.Addend, e.Scale = one, other, w.reg(10), w.sign(15)
	}
}

func (e *effect) addRegister(to, from, other insn.Register, scale int64, width int) {
	e.Compute(insn.AddRegister, to, width)
	e.Source, e.Second, e.Scale = from, other, scale
}

// addExtended handles add and sub with an extended register.
func (e *effect) addExtended(w word, _ uint64) {
	to := w.regSP(0)
	if w.bit(29) {
		to = w.reg(0)
	}
	e.Write(to)
	if other := w.reg(16); to != insn.NoRegister && other != insn.NoRegister && w.field(10, 3) <= 4 {
		e.addRegister(to, w.regSP(5), other, w.sign(30)<<w.field(10, 3), w.width())
	}
}

// addCarry handles adc and sbc; also rmif and setf8, which write no general register.
func (e *effect) addCarry(w word, _ uint64) {
	if op := w.field(10, 5); op != 1 && op != 2 {
		e.Write(w.reg(0))
	}
}

// choose handles csel.
func (e *effect) choose(w word, _ uint64) {
	to, one, other := w.reg(0), w.reg(5), w.reg(16)
	e.Write(to)
	if !w.bit(30) && to != insn.NoRegister && one != insn.NoRegister && other != insn.NoRegister {
		e.Compute(insn.Choose, to, w.width())
		e.Source, e.Second = one, other
	}
}
