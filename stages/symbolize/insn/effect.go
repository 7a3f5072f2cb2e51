package insn

// Register is a register by its DWARF number: on x86-64 the general registers
// are 0 to 15 (stack pointer 7), those of vectors 17 to 48; on A64 they are 0 to 31
// (stack pointer 31) and 64 to 95. In 32-bit x86 code 0 to 7 (stack pointer 4).
type Register int16

// NoRegister stands for none; also for A64's zero register.
const NoRegister Register = -1

// Class is what sort of value an instruction moves.
type Class uint8

// The classes.
const (
	Integer Class = iota // also addresses
	Float                // one floating-point number
	Vector               // several numbers, or bytes of any meaning in a vector register
)

// Access is one operand in memory.
type Access struct {
	// The address is Base + Index*Scale + Disp, with the 64-bit or 32-bit value
	// of the registers; Absolute when there are none: then it is Disp as an address.
	// What is relative to the program counter is Absolute too.
	Base, Index Register
	Scale       uint8 // 1, 2, 4 or 8
	Absolute    bool
	Thread      bool // it counts from the thread's own block (segment fs or gs)
	Implicit    bool // no operand names it: the stack of push, pop, call and return
	Disp        int64
	Size        int // bytes moved, of each repetition; 0 when not told
	Class       Class
	Load, Store bool
}

// Op is what an instruction does to its destination, as far as the type of what
// is in a register can be followed.
type Op uint8

// The operations. Those that write registers in other ways are Opaque.
const (
	Opaque      Op = iota
	Move           // Dest = Source
	SetConst       // Dest = Value; also an address relative to the program counter
	Load           // Dest = Accesses[0]; of less than a register, whatever the extension
	Store          // Accesses[0] = Source
	AddConst       // Dest = Source + Value
	AddRegister    // Dest = Source + Second*Scale + Value
	Choose         // Dest = Dest or Source (cmov), or Source or Second (csel)
)

// Effect is what an instruction does to memory and to general registers.
type Effect struct {
	Inst
	Op             Op
	Dest           Register // of general registers; NoRegister unless Op has one
	Source, Second Register
	Scale          uint8 // of Second
	Value          int64
	Width          int      // bytes of Dest that the operation computes: 8, 4, 2 or 1
	Accesses       []Access // loads before stores
	// Written has a bit for each general register, 1<<r, whose value is another
	// one behind the instruction, Dest among them. Calls write what their callee
	// may: that is not told here.
	Written uint64
	// Base is the register that Update was added to (push, pop, post- and
	// pre-indexed accesses), NoRegister for none. It is in Written.
	Base   Register
	Update int64
}
