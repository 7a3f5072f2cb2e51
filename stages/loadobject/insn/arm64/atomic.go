package arm64

import "stackmill/stages/loadobject/insn"

// exclusive handles ldxr, stxr, ldar, stlr and similar instructions with one register.
func (e *effect) exclusive(w word, _ uint64) {
	n, load := 1<<w.field(30, 2), w.bit(22)
	e.at(w, 0, n, load, !load)
	switch {
	case load:
		e.load(w.reg(0), max(n, 4))
	case w.bit(23): // stlr
		e.Op, e.Source, e.Width = insn.Store, w.reg(0), n
	default: // may fail to store: Rs is the status
		e.Write(w.reg(16))
	}
}

// exclusivePair handles ldxp and stxp.
func (e *effect) exclusivePair(w word, _ uint64) {
	n, load := 4<<w.field(30, 1), w.bit(22)
	e.both(w, w.reg(10), 0, n, load)
	if !load {
		e.Op, e.Source, e.Second, e.Width = insn.Opaque, insn.NoRegister, insn.NoRegister, 0
		e.Write(w.reg(16))
	}
}

// compareSwap handles cas.
func (e *effect) compareSwap(w word, _ uint64) {
	e.at(w, 0, 1<<w.field(30, 2), true, true)
	e.Write(w.reg(16))
}

// compareSwapPair handles casp, which takes pairs of consecutive registers.
func (e *effect) compareSwapPair(w word, _ uint64) {
	e.at(w, 0, 8<<w.field(30, 1), true, true)
	e.Write(w.reg(16))
	e.Write(w.reg(16) + 1)
}

// swapPair handles swpp, ldclrp and ldsetp.
func (e *effect) swapPair(w word, _ uint64) {
	e.at(w, 0, 16, true, true)
	e.Write(w.reg(0))
	e.Write(w.reg(16))
}

// atomic handles ldapr, loads and stores of 64 bytes, and the instructions that change memory and
// return the old value.
func (e *effect) atomic(w word, _ uint64) {
	n, op := 1<<w.field(30, 2), w.field(12, 4)
	switch {
	case op == 12: // ldapr
		e.at(w, 0, n, true, false)
		e.load(w.reg(0), max(n, 4))
	case op == 13: // ld64b
		e.at(w, 0, 64, true, false)
		for r := range insn.Register(8) {
			e.Write((w.regSP(0) + r) & 31)
		}
	case op >= 9 && op <= 11 && n == 8: // st64b, st64bv
		e.at(w, 0, 64, false, true)
		e.Write(w.reg(16))
	default:
		e.at(w, 0, n, true, true)
		e.Write(w.reg(0))
	}
}

// authenticated handles ldraa and ldrab.
func (e *effect) authenticated(w word, _ uint64) {
	disp := w.signed(12, 9)
	if w.bit(22) != w.bit(20) { // bit 22 is the sign
		disp ^= -1 << 9
	}
	disp *= 8
	if w.bit(11) {
		e.update(w, disp)
	}
	e.at(w, disp, 8, true, false)
	e.load(w.reg(0), 8)
}

// copyMemory handles cpy and set, which update three registers.
func (e *effect) copyMemory(w word, _ uint64) {
	set := w.field(22, 2) == 3
	to, from := w.reg(0), w.reg(16)
	if !set {
		e.Accesses = append(e.Accesses, insn.Access{Base: from, Index: insn.NoRegister, Repeated: true, Load: true, Class: insn.Vector})
		e.Write(from)
	}
	e.Accesses = append(e.Accesses, insn.Access{Base: to, Index: insn.NoRegister, Repeated: true, Store: true, Class: insn.Vector})
	e.Write(to)
	e.Write(w.reg(5))
}

// zero handles dc zva.
func (e *effect) zero(w word, _ uint64) {
	e.Accesses = append(e.Accesses, insn.Access{Base: w.reg(0), Index: insn.NoRegister, Store: true, Class: insn.Vector})
}

// tags handles the instructions for memory tags. stzg and stz2g also change memory.
func (e *effect) tags(w word, _ uint64) {
	disp, op, mode := w.signed(12, 9)*16, w.field(22, 2), w.field(10, 2)
	if mode == 0 {
		if op != 0 && op != 2 || op == 2 && disp != 0 {
			e.Write(w.reg(0)) // ldg, ldgm
		}
		return
	}
	if mode != 2 {
		e.update(w, disp)
	}
	if mode == 1 {
		disp = 0
	}
	if op&1 != 0 {
		e.at(w, disp, 16<<(op>>1), false, true).Class = insn.Vector
	}
}
