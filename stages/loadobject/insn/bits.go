package insn

// BitOp is an operation that computes the bits of an instruction's result from the bits of its
// operands From and With.
type BitOp uint8

// The operations.
const (
	BitMix      BitOp = iota // each bit depends on all bits of both
	BitField                 // Count bits of From, from bit First on, at bit At; for other bits see Signed and Keep
	BitAnd                   // From & With
	BitOr                    // From | With
	BitXor                   // From ^ With
	BitAdd                   // From + With: each bit depends on equally and less significant ones
	BitSubtract              // From - With, the same
	BitLeft                  // From << With
	BitRight                 // From >> With, unsigned
	BitSigned                // From >> With, with its sign
	BitRotate                // From rotated to the left by With
	BitLeftIn                // From << Count, filled with the most significant bits of With
	BitRightIn               // From >> Count, filled with the least significant bits of With
	BitChoose                // From or With, depending on the flags
)

// BitOperand is an operand of Bits.
type BitOperand struct {
	Kind     BitOperandKind
	High     bool // the second byte of the register, such as ah
	Register Register
	Value    uint64 // of BitConst
}

// BitOperandKind is the kind of an operand.
type BitOperandKind uint8

// The kinds of operands.
const (
	BitNothing  BitOperandKind = iota // 0
	BitAnything                       // unknown
	BitRegister
	BitMemory // the explicit memory operand
	BitConst
)

// Bits is an instruction's effect on the bits of a register or of memory. It determines which of
// the bits that it loads are used, and which of the bits that it stores are changed.
type Bits struct {
	Op             BitOp
	Signed, Keep   bool  // of BitField: the other bits become the field's sign; stay as they were
	Not            bool  // With is inverted first
	Shift          int   // With is shifted by it first,
	ShiftOp        BitOp // to the left (BitLeft, or 0), or as BitRight, BitSigned or BitRotate do
	Sets, Reads    bool  // the flags of the result
	Carry          bool  // reads the carry flag, into which shifts move the last bit that they drop
	Old            bool  // sets the carry flag from From, not from the result
	Width          int   // bytes of the result
	To, From, With BitOperand
	First, At      int    // of BitField
	Count          int    // of BitField, BitLeftIn and BitRightIn
	Plus           uint64 // of BitAdd: a third summand
}

// Ones returns a number with the lower n bits set.
func Ones(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}
