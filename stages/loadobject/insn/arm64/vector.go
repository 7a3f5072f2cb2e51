package arm64

import "stackmill/stages/loadobject/insn"

// structures handles ld1 to ld4 and st1 to st4 of whole registers.
func (e *effect) structures(w word, _ uint64) {
	registers := [16]int{0: 4, 2: 4, 4: 3, 6: 3, 7: 1, 8: 2, 10: 2}[w.field(12, 4)]
	e.elements(w, registers*w.vectorSize())
}

// structure handles ld1 to ld4 and st1 to st4 of one element of each register.
func (e *effect) structure(w word, _ uint64) {
	op, size := w.field(13, 3), w.field(10, 2)
	n := int(op&1<<1|w.field(21, 1)) + 1
	switch op >> 1 {
	case 0:
		size = 0
	case 1:
		size = 1
	case 2:
		size = 2 + size&1
	}
	e.elements(w, n<<size)
}

// elements adds an access of size bytes at register Rn, and the update of Rn by an immediate or by
// register Rm.
func (e *effect) elements(w word, size int) {
	load := w.bit(22)
	e.at(w, 0, size, load, !load).Class = insn.Vector
	switch {
	case !w.bit(23):
	case w.reg(16) == insn.NoRegister:
		e.update(w, int64(size))
	default:
		e.Write(w.regSP(5))
	}
}

// vectorSize returns the size of a vector, given by the bit Q.
func (w word) vectorSize() int {
	if w.bit(30) {
		return 16
	}
	return 8
}

// sveLoad handles contiguous loads of scalable vectors.
func (e *effect) sveLoad(w word, _ uint64) { e.scalable(w, w.regSP(5), true) }

// sveGather handles gathering loads, whose addresses are in vectors.
func (e *effect) sveGather(w word, _ uint64) { e.scalable(w, insn.NoRegister, true) }

// sveStore handles stores, which are contiguous if bits 13 to 15 are 0, 2, 3 or 7.
func (e *effect) sveStore(w word, _ uint64) {
	switch w.field(13, 3) {
	case 0, 2, 3, 7:
		e.scalable(w, w.regSP(5), false)
	default:
		e.scalable(w, insn.NoRegister, false)
	}
}

func (e *effect) scalable(w word, base insn.Register, load bool) {
	m := e.at(w, 0, 0, load, !load)
	m.Base, m.Inexact, m.Class = base, true, insn.Vector
}
