package x86

import "stackmill/stages/loadobject/insn"

// stack does what moves the stack pointer by itself.
func (w *worker) stack() {
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
		w.onStack(w.frame(), true) // the callee's return takes it off again
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

// frame is what a call pushes: the segment of a far one has a slot of its own.
func (w *worker) frame() int {
	if w.a.size == 'p' {
		return 2 * w.decoder.size('v')
	}
	return w.size
}

// onStack adds the access to what is pushed or popped.
func (w *worker) onStack(size int, push bool) {
	m := insn.Access{Base: w.general(numberSP), Index: insn.NoRegister, Implicit: true, Size: size, Load: !push, Store: push}
	if push {
		m.Disp = int64(-size)
	}
	w.e.Accesses = append(w.e.Accesses, m)
}

func (w *worker) moveStack(n int) {
	w.e.Base, w.e.Update = w.general(numberSP), int64(n)
	w.e.Write(w.e.Base)
}

func (w *worker) push() {
	from := place{inCode, insn.NoRegister}
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

func (w *worker) pop() {
	w.onStack(w.size, false)
	w.moveStack(w.size)
	to := w.opcodeReg()
	switch w.a.dest {
	case verbNone:
		return
	case 'E':
		if to = w.rm(); to.kind == inMemory {
			w.touch(w.size, false, true)
			if m := &w.e.Accesses[1]; m.Base == w.e.Base { // computed when the stack pointer has moved
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
