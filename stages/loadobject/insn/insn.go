// Package insn defines the results of decoding machine instructions: length, flow of control, and
// effects on memory, registers and bits. Packages x86 and arm64 decode; callers use them through
// package disasm.
//
// Unwinding uses the results to find calls to the procedure linkage table (S22, S23), signal
// trampolines (S24) and functions that end in a jump (S12, S26). Data objects are derived from
// memory operands (S27).
package insn

import "errors"

// Kind is an instruction's effect on the flow of control.
type Kind uint8

// The kinds.
const (
	Other    Kind = iota
	Call          // control returns after the instruction
	Jump          // unconditional
	CondJump      // conditional; also loops and a transaction's abort path
	Return        // from a function, an interrupt or the kernel
	Syscall       // enters the kernel, and returns: syscall, sysenter, int $0x80, svc
	Trap          // raises an exception: ud2, int3, hlt, brk, udf
	Nop           // a nop of any length
)

var kindNames = [...]string{"other", "call", "jump", "condjump", "return", "syscall", "trap", "nop"}

func (k Kind) String() string { return kindNames[k] }

// Inst is one decoded instruction.
type Inst struct {
	Len       int // bytes
	Kind      Kind
	HasTarget bool   // Target is known: a direct call or jump
	HasSlot   bool   // Slot is known
	Target    uint64 // set for a direct call or jump
	// Slot is the address of the word in memory that contains the target of an indirect call or
	// jump, if the instruction itself has that address, as in `jmp *0x2fc1(%rip)`. No instruction
	// of A64 does: see StubSlot.
	Slot uint64
}

// The errors of decoders.
var (
	ErrTruncated = errors.New("truncated instruction")
	ErrUndefined = errors.New("undefined instruction")
)
