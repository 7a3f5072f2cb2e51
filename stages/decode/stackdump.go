package decode

// Machine is what a thread's registers belong to.
type Machine struct {
	ARM64 bool // else x86-64
	Big   bool // byte order
}

// StackDump is what was recorded of a thread's user side at an event: its registers
// and a part of its stack. It is valid during the call that gets it.
type StackDump struct {
	Machine Machine
	Time    int64 // ns from the founder's start
	// Registers are values by DWARF number, and the program counter: 16 on
	// x86-64, 32 on arm64. Bit i of Known says that Registers[i] was recorded.
	Registers [33]uint64
	Known     uint64
	Stack     []byte // memory from the stack pointer upwards
	Full      bool   // the stack may go on behind it
}

// Unwound is the stack that a dump holds, valid until the next is unwound. Words,
// Exact and ByFrame are those of RawStack.
type Unwound struct {
	Words          []uint64
	Exact, ByFrame []int32
	Reason         string // why it ends early, empty when it is whole
}

// Reasons why a dump is not unwound, or a stack recorded otherwise is not whole.
const (
	ReasonMachine   = "other-machine"     // it is of a processor or mode that is not known
	ReasonRegisters = "missing-registers" // without the stack pointer or the program counter
	// ReasonChainLimit and ReasonBranches are those of recorded call chains.
	ReasonChainLimit = "chain-limit"       // it is as long as the kernel lets it be
	ReasonBranches   = "branch-stack-full" // it is as long as the processor's record of calls
	ReasonDeferred   = "deferred-chain"    // its user part was to be recorded later, and was not
	ReasonContext    = "unknown-context"   // a part of it is of a kind that is not known
	ReasonAddress    = "bad-address"       // one of its addresses is none
)
