package cfi

import "stackmill/stages/loadobject/isa"

// maxDepth is how far from the stack pointer a frame pointer may point: the usual
// limit of a stack's size.
const maxDepth = 8 << 20

// chained steps to the caller of code without rules, such as hand-written
// assembly, if it is not where the process began, by the frame pointer: where that
// points to stand the caller's frame pointer and the return address. It is believed
// if it points into the dump, not below the stack pointer, and if the return
// address is in code. 0 marks the outermost frame.
func (w *Walker) chained() (pc uint64, end bool, reason string) {
	if t := w.code.table; t != nil && t.begins(w.code.offset) {
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
		pc = w.plain(pc)
	}
	if pc == 0 || !w.find(pc-1).executable {
		return 0, false, reason
	}
	w.regs.Value[fp], w.regs.Value[sp], w.regs.Value[w.arch.PC()] = saved, at+16, pc
	return pc, false, ""
}

// The bits of an address that are not used to authenticate it, with address
// spaces of 48 and of 52 bits.
const (
	plain48 = 1<<48 - 1
	plain52 = 1<<52 - 1
)

// plain removes the signature from a return address.
func (w *Walker) plain(pc uint64) uint64 {
	short := pc & plain48
	if long := pc & plain52; long != short && w.find(long-1).executable {
		return long
	}
	return short
}
