package cfi

import "stackmill/stages/loadobject/isa"

// FramePointer says whose frame the frame pointer points to at an instruction. Only stacks that
// were recorded by following frame pointers depend on it.
type FramePointer uint8

// Values of FramePointer.
const (
	FrameUnknown FramePointer = iota // there are no rules
	FrameOwn                         // the function's own frame: the chain continues with its caller
	FrameOther                       // a caller's frame, or none: the chain lacks the function's caller
)

// maxSetUp bounds the size, in bytes, of the code between the instructions that save and set the
// frame pointer: at most one instruction.
const maxSetUp = 16

// FramePointer returns whose frame the frame pointer points to at an offset in the file. On x86-64,
// the CFA's rule uses the frame pointer once that is set. On A64, the CFA's rule may keep using the
// stack pointer, but the function saves the return address together with the frame pointer.
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

// saved reports whether the caller's value of a register is in memory. A place below the stack
// pointer does not count: an epilogue has already restored the register from there.
func (t *Table) saved(r *row, register uint8) bool {
	for _, f := range t.rules[r.first : r.first+uint32(r.count)] {
		if f.register == register {
			return f.kind == atCFA && r.cfa.value+f.value >= 0 || f.kind == atExpression
		}
	}
	return false
}

// KeepsCaller reports, where FramePointer returns FrameOther, whether the frame pointer still
// points to the caller's frame: the function has not saved it yet, or sets it in the next
// instruction.
func (t *Table) KeepsCaller(offset uint64) bool {
	r := &t.distinct[t.find(offset)]
	if !t.saved(r, t.Arch.FP()) {
		return true
	}
	n := t.rowsUpTo(offset)
	return n < len(t.starts) && uint64(t.starts[n])-offset <= maxSetUp && t.FramePointer(uint64(t.starts[n])) == FrameOwn
}
