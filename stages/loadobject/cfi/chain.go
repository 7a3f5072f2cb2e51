package cfi

import "stackmill/stages/loadobject/isa"

// maxDepth bounds the distance of a frame pointer from the stack pointer: the default
// limit of a stack's size.
const maxDepth = 8 << 20

// callerByFramePointer steps to the caller of code without rules, such as hand-written assembly. It
// reads the caller's frame pointer and the return address from the place to which the frame pointer
// points. That place must be in the dump, not below the stack pointer, and the return address in
// code. The frame is the outermost one in a process's start code, or if the frame pointer is 0.
func (w *Walker) callerByFramePointer() (pc uint64, end bool, reason string) {
	if t := w.code.table; t != nil && t.isProcessStart(w.code.offset) {
		return 0, true, ""
	}
	reason = NoCFI
	if !w.code.executable {
		reason = NoCode
	}
	fp, sp := w.arch.FP(), w.arch.SP()
	at := w.regs.Value[fp]
	if w.regs.Known>>fp&1 != 0 && at == 0 && w.code.executable {
		w.stack.ByFrame = append(w.stack.ByFrame, int32(len(w.stack.Words)-1))
		return 0, true, ""
	}
	if w.regs.Known>>fp&1 == 0 || at < w.regs.Value[sp] || at%8 != 0 || at-w.base >= maxDepth {
		return 0, false, reason
	}
	if uint64(len(w.dump)) < at-w.base+16 {
		if w.full {
			reason = DumpTooShort
		}
		return 0, false, reason
	}
	saved, _ := w.word(at)
	pc, _ = w.word(at + 8)
	if w.arch == isa.ARM64 {
		pc = w.stripSignature(pc)
	}
	if pc == 0 || !w.find(pc-1).executable {
		return 0, false, reason
	}
	w.regs.Value[fp], w.regs.Value[sp], w.regs.Value[w.arch.PC()] = saved, at+16, pc
	return pc, false, ""
}

// stripSignature removes the pointer authentication code from a return address. Addresses have 48
// or 52 bits.
func (w *Walker) stripSignature(pc uint64) uint64 {
	short := pc & (1<<48 - 1)
	if long := pc & (1<<52 - 1); long != short && w.find(long-1).executable {
		return long
	}
	return short
}
