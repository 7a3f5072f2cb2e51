// Package insn decodes machine instructions: how long they are, where calls
// and jumps go, what they do to memory and registers, and what they read as.
//
// Unwinding asks it whether a call goes to the procedure linkage table (S22,
// S23), which instructions a signal trampoline consists of (S24) and where a
// function is left by a jump (S12, S26). Data objects come from the operands in
// memory (S27).
package insn

import (
	"errors"
	"iter"

	"stackmill/stages/loadobject/isa"
)

// Kind is what an instruction does to the flow of control.
type Kind uint8

// The kinds.
const (
	Other    Kind = iota
	Call          // comes back behind itself
	Jump          // always
	CondJump      // or goes on behind itself; also loops and the abort path of a transaction
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
	// takes its target from, when the instruction alone tells it, as
	// `jmp *0x2fc1(%rip)` does. A64 has no such instructions: see StubSlot.
	Slot uint64
}

// The errors of Decode.
var (
	ErrTruncated = errors.New("truncated instruction")
	ErrUndefined = errors.New("undefined instruction")
)

// Decode decodes the instruction at the start of code, which lies at addr. It
// looks no further than the instruction's end and fails with ErrTruncated when
// code ends before it, with ErrUndefined when there is no such instruction.
//
// Lengths are the hardware's. They differ from those of objdump in one place:
// objdump prints `fwait` and the x87 instruction behind it as one. The x86
// extension APX (prefix REX2, EVEX map 4) is undefined here.
func Decode(arch isa.Arch, code []byte, addr uint64) (inst Inst, err error) {
	switch arch {
	case isa.ARM64:
		err = inst.decodeARM64(code, addr)
	case isa.AMD64, isa.X86:
		err = inst.decodeX86(arch == isa.AMD64, code, addr)
	default:
		err = ErrUndefined
	}
	return inst, err
}

// Item is a step of Walk: an instruction, or Inst.Len bytes that are none, with
// the error that Decode gave for them.
type Item struct {
	Addr uint64
	Inst Inst
	Err  error
}

// Walk iterates over the instructions of code, which lies at addr, in order of
// address and without gaps. Behind bytes that are no instruction it goes on
// after one byte (x86) or word (A64).
func Walk(arch isa.Arch, code []byte, addr uint64) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for len(code) > 0 {
			inst, err := Decode(arch, code, addr)
			if err != nil {
				inst = Inst{Len: min(arch.Step(), len(code))}
			}
			if !yield(Item{addr, inst, err}) {
				return
			}
			code, addr = code[inst.Len:], addr+uint64(inst.Len)
		}
	}
}
