package cfi

import "stackmill/stages/loadobject/isa"

// FramePointer says whose frame the frame pointer points to at an instruction, for
// those who follow the chain of frame pointers.
type FramePointer uint8

// Whose frame the rules of an instruction say it is.
const (
	FrameUnknown FramePointer = iota // there are no rules
	FrameOwn                         // the instruction's own function's: its caller is the next in the chain
	FrameOther                       // a caller's, or no frame: the chain lacks the function's caller
)

// maxSetUp bounds the code between the rules for a saved frame pointer and those
// that count from it: the instruction that sets it, in bytes.
const maxSetUp = 16

// FramePointer says whose frame the frame pointer points to at an offset in the file.
// x86-64's rules count from it once it is set. A64's go on to count from the
// stack pointer; there the return address is saved together with it.
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

// saved reports whether a row finds a register of the caller in memory. What is
// below the stack pointer has been restored by an epilogue.
func (t *Table) saved(r *row, register uint8) bool {
	for _, f := range t.rules[r.first : r.first+uint32(r.count)] {
		if f.register == register {
			return f.kind == atCFA && r.cfa.value+f.value >= 0 || f.kind == atExpression
		}
	}
	return false
}

// KeepsCaller reports whether the frame pointer at an offset still is the
// caller's, where FramePointer is FrameOther: nothing has saved it to use the
// register, unless the next instruction makes it the function's own.
func (t *Table) KeepsCaller(offset uint64) bool {
	r := &t.distinct[t.find(offset)]
	if !t.saved(r, t.Arch.FP()) {
		return true
	}
	n := t.piece(offset)
	return n < len(t.starts) && uint64(t.starts[n])-offset <= maxSetUp && t.FramePointer(uint64(t.starts[n])) == FrameOwn
}
