package insn

// BitOp is the operation that computes the bits of an instruction's result from its operands, which
// are Bits.From and Bits.With.
type BitOp uint8

// The operations.
const (
	BitMix      BitOp = iota // each bit depends on all bits of both operands
	BitField                 // Count bits of From, from bit First, move to bit At; other bits: see Signed and Keep
	BitAnd                   // From & With
	BitOr                    // From | With
	BitXor                   // From ^ With
	BitAdd                   // From + With: each bit depends on the same and lower bits
	BitSubtract              // From - With: bits depend as for BitAdd
	BitLeft                  // From << With
	BitRight                 // From >> With, unsigned
	BitSigned                // From >> With, sign-extended
	BitRotate                // From rotated to the left by With
	BitLeftIn                // From << Count, filled with the most significant bits of With
	BitRightIn               // From >> Count, filled with the least significant bits of With
	BitChoose                // From or With, depending on the flags
)

// BitOperand is an operand of an instruction in Bits: To, From or With.
type BitOperand struct {
	Kind     BitOperandKind
	High     bool // the second byte of the register, such as ah
	Register Register
	Value    uint64 // the number, for BitConst
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

// Bits is an instruction's effect on the bits of a register or of memory. With it, callers find out
// which loaded bits are used, and which stored bits are changed.
type Bits struct {
	Op             BitOp
	Signed, Keep   bool  // BitField: the other bits become the field's sign, or keep their values
	Shift          int   // bits by which the operand With is shifted before the operation
	ShiftOp        BitOp // direction of that shift: BitLeft (or 0), BitRight, BitSigned or BitRotate
	Not            bool  // the operand With is inverted before the operation, after its shift
	Sets, Reads    bool  // the instruction sets the flags; reads the flags
	Carry          bool  // the instruction reads the carry flag; a shift moves the last bit shifted out into it
	Old            bool  // the carry flag is computed from From, not from the result
	Width          int   // bytes of the result
	To, From, With BitOperand
	First, At      int    // for BitField
	Count          int    // for BitField, BitLeftIn and BitRightIn
	Plus           uint64 // for BitAdd: a third summand
}

// Ones returns a number with the lower n bits set.
func Ones(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}
