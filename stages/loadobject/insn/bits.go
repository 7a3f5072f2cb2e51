package insn

// BitOp is how the bits of an instruction's result follow from those of its
// operands From and With.
type BitOp uint8

// The operations.
const (
	BitMix      BitOp = iota // each depends on all bits of both
	BitField                 // Count bits of From, from bit First on, at bit At; the others as Signed and Keep say
	BitAnd                   // From & With
	BitOr                    // From | With
	BitXor                   // From ^ With
	BitAdd                   // From + With: each depends on those that are no more significant
	BitSubtract              // From - With, the same
	BitLeft                  // From << With
	BitRight                 // From >> With, unsigned
	BitSigned                // From >> With, with its sign
	BitRotate                // From rotated to the left by With
	BitLeftIn                // From << Count, filled with the most significant bits of With
	BitRightIn               // From >> Count, filled with the least significant bits of With
	BitChoose                // From or With, as the flags say
)

// BitOperand is an operand of Bits.
type BitOperand struct {
	Kind     BitOperandKind
	High     bool // the second byte of the register, such as ah
	Register Register
	Value    uint64 // of BitConst
}

// BitOperandKind says where an operand is.
type BitOperandKind uint8

// The kinds of operands.
const (
	BitNothing BitOperandKind = iota // it stands for 0
	BitAnything
	BitRegister
	BitMemory // the access that an operand names
	BitConst
)

// Bits is what an instruction does to the bits of a register or of memory, from
// which follows which of the bits that it loads are used, and which of those that
// it stores are changed.
type Bits struct {
	Op             BitOp
	Signed, Keep   bool  // of BitField: the other bits become the field's sign; stay as they were
	Not            bool  // With is inverted first
	Shift          int   // With is shifted by it first,
	ShiftOp        BitOp // to the left (BitLeft, or 0), or as BitRight, BitSigned or BitRotate do
	Sets, Reads    bool  // the flags, of the result's value
	Carry          bool  // reads the carry, into which shifts move the last bit that they drop
	Old            bool  // sets the carry by From, not by the result
	Width          int   // bytes of the result
	To, From, With BitOperand
	First, At      int    // of BitField
	Count          int    // of BitField, BitLeftIn and BitRightIn
	Plus           uint64 // of BitAdd: is added too
}

// Ones is a number of n bits that are 1.
func Ones(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}
