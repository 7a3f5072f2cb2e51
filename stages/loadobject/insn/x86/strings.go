package x86

import "stackmill/stages/loadobject/insn"

// strings handles the string instructions, whose operands are at the addresses in si and di.
func (w *effectDecoder) strings() {
	si, di, ax := w.general(numberSI), w.general(numberDI), w.general(numberAX)
	once := w.rep == 0
	if !once {
		w.e.Write(w.general(numberCX))
	}
	switch w.a.dest {
	case 'i', 'o':
		w.size = min(w.size, 4)
	}
	switch w.a.dest {
	case 'm': // movs
		w.through(si, w.size, true)
		w.through(di, w.size, false)
	case 'c': // cmps
		w.through(si, w.size, true)
		w.through(di, w.size, true)
	case 'a': // scas
		w.through(di, w.size, true)
	case 'i': // ins
		w.through(di, w.size, false)
	case 's': // stos
		w.through(di, w.size, false)
		if once {
			w.e.Op, w.e.Source, w.e.Width = insn.Store, ax, w.size
		}
	case 'o': // outs
		w.through(si, w.size, true)
	case 'l': // lods
		w.through(si, w.size, true)
		w.e.Write(ax)
		if once {
			w.e.Compute(insn.Load, ax, w.size)
		}
	}
	for i := range w.e.Accesses {
		m := &w.e.Accesses[i]
		m.Repeated = !once
		m.Thread = m.Base == si && w.segment
		w.e.Write(m.Base)
	}
}

// translate handles xlat, which adds al to bx.
func (w *effectDecoder) translate() {
	ax := w.general(numberAX)
	w.through(w.general(numberBX), 1, true)
	w.e.Accesses[0].Inexact, w.e.Accesses[0].Thread = true, w.segment
	w.e.Write(ax)
	w.e.Compute(insn.Load, ax, 1)
}

// move64 handles movdir64b and similar instructions, which store at the address in a register.
func (w *effectDecoder) move64() {
	w.touch(64, true, false)
	w.through(w.modrmReg().reg, 64, false)
}

// through adds an access at the address in a register.
func (w *effectDecoder) through(r insn.Register, size int, load bool) {
	w.e.Accesses = append(w.e.Accesses, insn.Access{Base: r, Index: insn.NoRegister, Size: size, Load: load, Store: !load})
}
