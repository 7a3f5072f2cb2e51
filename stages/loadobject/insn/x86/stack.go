package x86

import "stackmill/stages/loadobject/insn"

// stack handles the instructions that implicitly move the stack pointer.
func (w *effectDecoder) stack() {
	switch w.a.verb {
	case verbPush:
		w.push()
	case verbPop:
		w.pop()
	case verbPushAll:
		w.onStack(8*w.size, true)
		w.moveStack(-8 * w.size)
	case verbPopAll:
		w.onStack(8*w.size, false)
		w.e.Written = 1<<8 - 1
		w.moveStack(8 * w.size)
	case verbCall:
		if w.a.dest == 'E' && w.memory != register {
			w.touch(w.size, true, false)
		}
		w.onStack(w.frame(), true) // the callee's return pops it
	case verbReturn:
		w.onStack(w.frame(), false)
		if w.a.size == 'z' { // iret
			w.e.Write(w.general(numberSP))
		} else {
			w.moveStack(w.frame() + int(uint16(w.imm)))
		}
	case verbEnter:
		w.onStack(w.size, true)
		w.e.Write(w.general(numberSP))
		w.e.Write(w.general(numberBP))
	case verbLeave:
		bp := w.general(numberBP)
		w.e.Accesses = append(w.e.Accesses, insn.Access{Base: bp, Index: insn.NoRegister, Implicit: true, Size: w.size, Load: true})
		w.e.Write(bp)
		w.e.Write(w.general(numberSP))
		w.e.Compute(insn.Load, bp, w.size)
	}
}

// frame returns the number of bytes that a call pushes: a far call also pushes the segment.
func (w *effectDecoder) frame() int {
	if w.a.size == 'p' {
		return 2 * w.decoder.size('v')
	}
	return w.size
}

// onStack adds the access of a push or pop.
func (w *effectDecoder) onStack(size int, push bool) {
	m := insn.Access{Base: w.general(numberSP), Index: insn.NoRegister, Implicit: true, Size: size, Load: !push, Store: push}
	if push {
		m.Disp = int64(-size)
	}
	w.e.Accesses = append(w.e.Accesses, m)
}

func (w *effectDecoder) moveStack(n int) {
	w.e.Base, w.e.Update = w.general(numberSP), int64(n)
	w.e.Write(w.e.Base)
}

func (w *effectDecoder) push() {
	from := location{inCode, insn.NoRegister}
	switch w.a.dest {
	case 'E':
		if from = w.rm(); from.kind == inMemory {
			w.touch(w.size, true, false)
		}
	case 'O':
		from = w.opcodeReg()
	}
	w.onStack(w.size, true)
	w.moveStack(-w.size)
	if from.kind == inMemory || w.a.dest == verbNone {
		return
	}
	w.e.Op, w.e.Source, w.e.Value, w.e.Width = insn.Store, from.reg, w.imm, w.size
}

func (w *effectDecoder) pop() {
	w.onStack(w.size, false)
	w.moveStack(w.size)
	to := w.opcodeReg()
	switch w.a.dest {
	case verbNone:
		return
	case 'E':
		if to = w.rm(); to.kind == inMemory {
			w.touch(w.size, false, true)
			if m := &w.e.Accesses[1]; m.Base == w.e.Base { // the address is computed after the pop changed its base
				m.Disp += int64(w.size)
			}
			return
		}
	}
	w.e.Write(to.reg)
	w.e.Compute(insn.Load, to.reg, w.size)
	if to.reg == w.e.Base {
		w.e.Base, w.e.Update = insn.NoRegister, 0
	}
}
