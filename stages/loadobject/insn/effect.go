package insn

// Register is a general register by its DWARF number: on x86-64 0 to 15 (stack
// pointer 7), on A64 0 to 31 (stack pointer 31), in 32-bit x86 code 0 to 7 (stack
// pointer 4).
type Register int16

// NoRegister stands for no register, for one of another kind, and for A64's zero
// register.
const NoRegister Register = -1

// Class is the sort of value that an instruction moves.
type Class uint8

// The classes.
const (
	Integer Class = iota // also addresses
	Float                // one floating-point number
	Vector               // several numbers, or bytes of any meaning in a vector register
)

// Access is one operand in memory.
type Access struct {
	// The address is Base + Index*Scale + Disp, with the 64-bit or 32-bit value that
	// the registers have before the instruction; Absolute without them: then it
	// is Disp. Addresses relative to the program counter are Absolute too.
	Base, Index Register
	Scale       uint8 // 1, 2, 4 or 8; 0 without Index
	Absolute    bool
	Thread      bool // relative to the thread's own block (segment fs or gs); never Absolute
	Implicit    bool // no operand names it: the stack of push, pop, call and return, and maskmovdqu
	Inexact     bool // the address has another part: elements of a vector, the number of a bit
	Repeated    bool // an unknown number of times, one after another
	Load, Store bool
	Class       Class
	Disp        int64
	Size        int // bytes moved by each repetition or for each vector element; 0 if unknown
}

// Op is what an instruction does to its destination, as far as types of values in
// registers can be followed.
type Op uint8

// The operations. Those that write registers in other ways are Opaque.
const (
	Opaque   Op = iota
	Move        // Dest = Source
	SetConst    // Dest = Value; also an address relative to the program counter
	Load        // Dest = Accesses[0]; of less than a register, whatever the extension
	Store       // Accesses[0] = Source, or Value without one
	AddConst    // Dest = Source + Value
	// AddRegister is Dest = Source + Second*Scale + Value. Source may be missing; a
	// missing Second stands for Accesses[0].
	AddRegister
	Choose     // Dest = Dest or Source (cmov; Accesses[0] without one), or Source or Second (csel)
	LoadPair   // Dest = Accesses[0], Second = Accesses[1]
	StorePair  // Accesses[0] = Source, Accesses[1] = Second; 0 where there is no register
	ThreadBase // Dest = where the thread's own block is, from which segments and A64's tpidr_el0 count
	Extend     // Dest = the low Value bytes of Source, with zeroes or the sign before them
	// MultiplyAdd is Dest = Addend + Source*Second*Scale. Addend may be missing.
	MultiplyAdd
)

// Effect is what an instruction does to memory and to general registers.
type Effect struct {
	Inst
	Op             Op
	Dest           Register // of general registers; NoRegister unless Op has one
	Source, Second Register
	Addend         Register
	Scale          int64 // of Second; negative to subtract; A64 may use only its lower half
	Value          int64
	Width          int      // bytes of Dest that the operation computes: 8, 4, 2 or 1; with 4 the others become 0
	Accesses       []Access // loads before stores
	// Written has a bit, 1<<r, for each general register that the instruction
	// writes, Dest among them. It leaves out what the callee of a call writes, and
	// that its return takes off what the call pushed.
	Written uint64
	// Base is the register that Update was added to (push, pop, post- and
	// pre-indexed accesses), else NoRegister. It is in Written.
	Base   Register
	Update int64
}

// NoEffect is an effect on nothing, which decoders start from.
var NoEffect = Effect{Dest: NoRegister, Source: NoRegister, Second: NoRegister, Addend: NoRegister, Base: NoRegister}

// Write adds a register to the written ones.
func (e *Effect) Write(r Register) {
	if r >= 0 {
		e.Written |= 1 << r
	}
}

// Compute sets an operation on a register, which it adds to the written ones.
func (e *Effect) Compute(op Op, dest Register, width int) {
	e.Op, e.Dest, e.Width = op, dest, width
	e.Write(dest)
}
