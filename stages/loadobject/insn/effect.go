package insn

// Register is a general register by its DWARF number: on x86-64 0 to 15 (stack
// pointer 7), on A64 0 to 31 (stack pointer 31), in 32-bit x86 code 0 to 7 (stack
// pointer 4).
type Register int16

// NoRegister means no register, a register that is not general, or A64's zero register.
const NoRegister Register = -1

// Class says what kind of value an instruction moves.
type Class uint8

// The classes.
const (
	Integer Class = iota // an integer or an address
	Float                // one floating-point number
	Vector               // several numbers, or uninterpreted bytes in a vector register
)

// Access is one operand in memory.
type Access struct {
	// The address is Base + Index*Scale + Disp, or if Absolute is set, Disp. Registers have their
	// values before the instruction, of 64 or 32 bits. An address relative to the program counter
	// is Absolute.
	Base, Index Register
	Scale       uint8 // 1, 2, 4 or 8; 0 without Index
	Absolute    bool
	Thread      bool // relative to the thread's own block (segment fs or gs); never Absolute
	Implicit    bool // not an operand: the stack of push, pop, call and return, and maskmovdqu
	Inexact     bool // the address has another part: a vector's elements, or a bit number
	Repeated    bool // made an unknown number of times, at consecutive addresses
	Load, Store bool
	Class       Class
	Disp        int64
	Size        int // bytes per repetition or per vector element; 0 if unknown
}

// Op is the operation with which an instruction computes its destination. It is detailed enough to
// follow the types of values in registers.
type Op uint8

// The operations. Opaque: the instruction writes registers in a way that no other Op describes.
const (
	Opaque   Op = iota
	Move        // Dest = Source
	SetConst    // Dest = Value; also an address relative to the program counter
	Load        // Dest = Accesses[0], possibly extended
	Store       // Accesses[0] = Source; without a Source, Value
	AddConst    // Dest = Source + Value
	// AddRegister is Dest = Source + Second*Scale + Value. Without Source, that term is 0. Without
	// Second, Accesses[0] is used instead.
	AddRegister
	Choose     // Dest = Dest or Source (cmov; Accesses[0] if Source is missing), or Source or Second (csel)
	LoadPair   // Dest = Accesses[0], Second = Accesses[1]
	StorePair  // Accesses[0] = Source, Accesses[1] = Second; NoRegister is 0
	ThreadBase // Dest = the address of the thread's own block: the base of segments, A64's tpidr_el0
	Extend     // Dest = the low Value bytes of Source, zero- or sign-extended
	// MultiplyAdd is Dest = Addend + Source*Second*Scale. Without Addend, that term is 0.
	MultiplyAdd
)

// Effect is an instruction's effect on memory and general registers.
type Effect struct {
	Inst
	Op             Op
	Dest           Register // a general register; NoRegister if Op has no destination
	Source, Second Register
	Addend         Register
	Scale          int64 // factor of Second; negative to subtract; A64 may use only Second's lower half
	Value          int64
	Width          int      // bytes of Dest that the operation computes: 8, 4, 2 or 1; with 4, the upper 4 become 0
	Accesses       []Access // loads before stores
	// Written has bit 1<<r for each general register r that the instruction writes, including Dest.
	// For a call, it does not include the registers that the callee and its return write.
	Written uint64
	// Base is the register to which the instruction adds Update (push, pop, post- and pre-indexed
	// accesses), else NoRegister. Written includes it.
	Base   Register
	Update int64
}

// NoEffect is the effect with which decoders start.
var NoEffect = Effect{Dest: NoRegister, Source: NoRegister, Second: NoRegister, Addend: NoRegister, Base: NoRegister}

// Write adds a register to Written.
func (e *Effect) Write(r Register) {
	if r >= 0 {
		e.Written |= 1 << r
	}
}

// Compute sets an operation and its destination, and adds the destination to Written.
func (e *Effect) Compute(op Op, dest Register, width int) {
	e.Op, e.Dest, e.Width = op, dest, width
	e.Write(dest)
}
