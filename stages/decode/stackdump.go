package decode

import "stackmill/stages/loadobject/isa"

// Machine is what a thread's registers belong to.
type Machine struct {
	Arch isa.Arch // AMD64 or ARM64
	Big  bool     // byte order
}

// StackDump is a stack whose callers are still to be found in what was recorded of
// a thread's user side at an event: its registers and a part of its stack.
type StackDump struct {
	// Recorded is the stack as far as it is known. If its Callers are CallersUnwound,
	// it has the kernel's part and the user's program counter, and all callers are to be
	// found; otherwise only the caller of the user's leaf, in the return register.
	Recorded RawStack
	// Leaf is the sampled address, which may be more precise than the program counter;
	// from NoAddress on it is not an address.
	Leaf uint64
	// Reason says why nothing can be unwound (ReasonMachine, ReasonRegisters).
	Reason  string
	Machine Machine
	Time    int64 // ns from the founder's start
	// Registers are values by DWARF number, and the program counter: 16 on
	// x86-64, 32 on arm64. Bit i of Known says that Registers[i] was recorded; if none
	// was, there is nothing to unwind.
	Registers [33]uint64
	Known     uint64
	Stack     []byte // memory from the stack pointer upwards
	Full      bool   // the stack may go on after it
}

// Dumps are the stack dumps of a process, in the order of time.
type Dumps interface {
	// Len is how many there are.
	Len() int
	// Reader returns a reader of them. Readers may be used at the same time.
	Reader() DumpReader
	// Guard runs f, and returns an error if the files became unreadable meanwhile. The
	// memory of dumps is that of the recording's files: they are read within Guard only.
	Guard(f func()) error
}

// DumpReader reads stack dumps.
type DumpReader interface {
	// Dump returns a dump by its number, valid until the next call.
	Dump(number int) *StackDump
}

// StackOfDump stands in the event column `raw_stack` for the stack of a dump, by the
// dump's number: from 0, in the order of time.
func StackOfDump(number int) int32 { return int32(-2 - number) }

// DumpOfStack returns the number of the dump that a value of `raw_stack` stands for.
func DumpOfStack(raw int32) (number int, ok bool) { return int(-2 - raw), raw < -1 }

// Reasons why a dump is not unwound, or a stack recorded otherwise is not whole.
const (
	ReasonMachine   = "other-machine"     // it is of a processor or mode that is not known
	ReasonRegisters = "missing-registers" // without the stack pointer or the program counter
	// ReasonChainLimit and ReasonBranches are those of recorded call chains.
	ReasonChainLimit = "chain-limit"       // it is as long as the kernel lets it be
	ReasonBranches   = "branch-stack-full" // it is as long as the processor's record of calls
	ReasonDeferred   = "deferred-chain"    // its user part was to be recorded later, and was not
	ReasonContext    = "unknown-context"   // a part of it is of an unknown kind
	ReasonAddress    = "bad-address"       // one of its words cannot be an address
)
