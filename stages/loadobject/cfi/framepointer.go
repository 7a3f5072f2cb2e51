package cfi

import "stackmill/stages/loadobject/isa"

// FramePointer says whose frame the frame pointer points to at an instruction. Stacks that were
// recorded by following frame pointers need it.
type FramePointer uint8

// Values of FramePointer.
const (
	FrameUnknown FramePointer = iota // there are no rules
	FrameOwn                         // the function's own frame: the chain continues with its caller
	FrameOther                       // a caller's frame, or none: the chain lacks the function's caller
)

// maxSetUp bounds the code in bytes, one instruction, between saving and setting the frame pointer.
const maxSetUp = 16

// FramePointer returns whose frame the frame pointer points to at an offset in the file.
// On x86-64, the CFA is based on the frame pointer once that is set. On A64 it remains based on the
// stack pointer, but the return address is saved together with the frame pointer.
func (t *Table) FramePointer(offset uint64) FramePointer {
	n := t.find(offset)
	if n == 0 {
		return FrameUnknown
	}
	r := &t.distinct[n]
	switch {
	case r.signal || r.cfa.kind != registerBased:
		return FrameUnknown
	case r.cfa.reg == t.Arch.FP():
		return FrameOwn
	case r.cfa.reg != t.Arch.SP():
		return FrameUnknown
	}
	if t.Arch == isa.ARM64 && t.saved(r, isa.LR) {
		return FrameOwn
	}
	return FrameOther
}

// saved reports whether a row recovers a register of the caller from memory. A slot below the stack
// pointer does not count: an epilogue has restored that register.
func (t *Table) saved(r *row, register uint8) bool {
	for _, f := range t.rules[r.first : r.first+uint32(r.count)] {
		if f.register == register {
			return f.kind == atCFA && r.cfa.value+f.value >= 0 || f.kind == atExpression
		}
	}
	return false
}

// KeepsCaller tells, for FrameOther, whether the frame pointer is still the caller's: it has not
// been saved yet, or the next instruction sets it to the function's own frame.
func (t *Table) KeepsCaller(offset uint64) bool {
	r := &t.distinct[t.find(offset)]
	if !t.saved(r, t.Arch.FP()) {
		return true
	}
	n := t.rowsUpTo(offset)
	return n < len(t.starts) && uint64(t.starts[n])-offset <= maxSetUp && t.FramePointer(uint64(t.starts[n])) == FrameOwn
}
