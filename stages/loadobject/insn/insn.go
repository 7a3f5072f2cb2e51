// Package insn is what the decoders of machine instructions say: how long an
// instruction is, where it goes on, what it does to memory, registers and bits.
// The decoders are x86 and arm64; package disasm picks one by the instruction
// set, and is what others call.
//
// Unwinding asks whether a call goes to the procedure linkage table (S22, S23),
// which instructions a signal trampoline consists of (S24) and where a function
// is left by a jump (S12, S26). Data objects come from operands in memory (S27).
package insn

import "errors"

// Kind is what an instruction does to the flow of control.
type Kind uint8

// The kinds.
const (
	Other    Kind = iota
	Call          // comes back after itself
	Jump          // always
	CondJump      // or goes on after itself; also loops and the abort path of a transaction
	Return        // from a function, an interrupt or the kernel
	Syscall       // enters the kernel and comes back: syscall, sysenter, int $0x80, svc
	Trap          // ends in an exception: ud2, int3, hlt, brk, udf
	Nop           // does nothing: nop of any length
)

var kindNames = [...]string{"other", "call", "jump", "condjump", "return", "syscall", "trap", "nop"}

func (k Kind) String() string { return kindNames[k] }

// Inst is one decoded instruction.
type Inst struct {
	Len       int // bytes
	Kind      Kind
	HasTarget bool // Target is known: a direct call or jump
	HasSlot   bool // Slot is known
	// Target is the address that a direct call or jump goes to.
	Target uint64
	// Slot is the address of the memory word that an indirect call or jump
	// takes its target from, if the instruction alone says so, as
	// `jmp *0x2fc1(%rip)` does. A64 has no such instructions: see StubSlot.
	Slot uint64
}

// The errors of decoders.
var (
	ErrTruncated = errors.New("truncated instruction")
	ErrUndefined = errors.New("undefined instruction")
)
