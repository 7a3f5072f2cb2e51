package decode

import (
	"slices"

	"stackmill/stages/loadobject/isa"
)

// Machine is the kind of processor to which a thread's registers belong.
type Machine struct {
	Arch isa.Arch // AMD64 or ARM64
	Big  bool     // byte order
}

// StackDump is a sample whose callers must still be found by unwinding: it has registers and a part
// of the thread's stack.
type StackDump struct {
	// Recorded is the known part of the stack. If its Callers are CallersUnwound, it has the
	// kernel's frames and the user PC, but no callers. Otherwise it lacks only one word: the caller
	// of the user code's leaf, whose address is in the link register.
	Recorded RawStack
	// Leaf is the sampled address, which may be more precise than the PC. Values from NoAddress on
	// are not addresses.
	Leaf uint64
	// Reason says why the dump cannot be unwound (ReasonMachine, ReasonRegisters); empty if it can.
	Reason  string
	Machine Machine
	Time    int64 // ns from the founder's start
	// Registers are values by DWARF number, then the PC (at 16 on x86-64, 32 on arm64). Bit i of
	// Known says that Registers[i] was recorded. If Known is 0, there is nothing to unwind.
	Registers [33]uint64
	Known     uint64
	Stack     []byte // memory from the stack pointer upwards
	Full      bool   // the stack may continue after Stack
}

// Dumps are the stack dumps of a process, in order of time.
type Dumps interface {
	// Len returns the number of dumps.
	Len() int
	// Reader returns a reader. Several may be used concurrently.
	Reader() DumpReader
	// Guard runs f, and returns an error if the files became unreadable meanwhile. Dumps point into
	// mapped files: read them only within Guard.
	Guard(f func()) error
}

// DumpReader reads stack dumps.
type DumpReader interface {
	// Dump returns a dump by its number, valid until the next call.
	Dump(number int) *StackDump
}

// StackOfDump returns the value of the event column `raw_stack` for a dump. Dumps are numbered from
// 0 in order of time.
func StackOfDump(number int) int32 { return int32(-2 - number) }

// DumpOfStack returns the number of the dump to which a value of `raw_stack` refers.
func DumpOfStack(raw int32) (number int, ok bool) { return int(-2 - raw), raw < -1 }

// The reasons why a dump is not unwound, or why another stack is incomplete.
const (
	ReasonMachine   = "other-machine"     // an unknown processor or mode
	ReasonRegisters = "missing-registers" // no stack pointer or PC
	// The following are for recorded call chains.
	ReasonChainLimit  = "chain-limit"       // the chain is as long as the kernel's limit
	ReasonOffCPULimit = "off-cpu-limit"     // the chain is as long as those of `perf record --off-cpu`
	ReasonBranches    = "branch-stack-full" // the chain is as long as the processor's branch stack
	ReasonDeferred    = "deferred-chain"    // the user part was deferred and never recorded
	ReasonContext     = "unknown-context"   // a part has an unknown context
	ReasonAddress     = "bad-address"       // a word cannot be an address
	// ReasonNoWaitStack is for waits, ReasonUnsampled for time on a CPU.
	ReasonNoWaitStack = "no-wait-stack" // the switch out was recorded without a stack
	ReasonUnsampled   = "unsampled"     // no sample was taken
)

// RawStacks is a list of stacks that reuses its memory. The stacks have neither Java nor OpenMP
// frames.
type RawStacks struct {
	list    []RawStack
	words   []uint64 // storage of the stacks' words; stacks added before it grew use the old array
	numbers []int32  // storage of the numbers in Exact and ByFrame, like words
}

// Len returns the number of stacks.
func (l *RawStacks) Len() int { return len(l.list) }

// At returns a stack, which is valid until Reset.
func (l *RawStacks) At(i int) *RawStack { return &l.list[i] }

// Reset empties the list and makes room for n stacks.
func (l *RawStacks) Reset(n int) {
	l.list, l.words, l.numbers = slices.Grow(l.list[:0], n), l.words[:0], l.numbers[:0]
}

// Add adds a copy of a stack.
func (l *RawStacks) Add(raw *RawStack) {
	l.list = append(l.list, *raw)
	own := &l.list[len(l.list)-1]
	own.Words = appended(&l.words, raw.Words)
	own.Exact = appended(&l.numbers, raw.Exact)
	own.ByFrame = appended(&l.numbers, raw.ByFrame)
}

// appended appends values to all, and returns the appended copy. Earlier copies stay where they
// are, even if all must grow.
func appended[T any](all *[]T, values []T) []T {
	if len(values) == 0 {
		return nil
	}
	from := len(*all)
	*all = append(*all, values...)
	return (*all)[from:len(*all):len(*all)]
}
