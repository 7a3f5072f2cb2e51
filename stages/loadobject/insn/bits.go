package insn

import (
	"encoding/binary"

	"stackmill/stages/loadobject/isa"
)

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

// Bits is what an instruction does to the bits of a register or of memory, for
// telling which of the bits that it loads are used, and which of those that it
// stores are others than before.
type Bits struct {
	Op             BitOp
	Signed, Keep   bool // of BitField: the others are the field's sign; are as they were
	Not            bool // With is inverted before
	Shift          int  // by which With is shifted to the left before
	Sets, Reads    bool // the flags, of the result's value
	Carry          bool // reads the carry, into which shifts move the last bit that they drop
	Old            bool // sets the carry by From, not by the result
	Width          int  // bytes of the result
	To, From, With BitOperand
	First, At      int    // of BitField
	Count          int    // of BitField, BitLeftIn and BitRightIn
	Plus           uint64 // of BitAdd: is added, too
}

// BitsOf decodes the instruction at the start of code, which lies at addr. It
// reports false for those of which it does not tell what bits they use. What
// does nothing to general registers and memory has no operands.
func BitsOf(arch isa.Arch, code []byte, addr uint64) (Bits, bool) {
	switch arch {
	case isa.AMD64, isa.X86:
		d := x86{code: code[:min(len(code), maxX86)], long: arch == isa.AMD64}
		f, err := d.decode()
		if err != nil {
			return Bits{}, false
		}
		return d.bits(f)
	case isa.ARM64:
		var inst Inst
		if inst.decodeARM64(code, addr) != nil {
			return Bits{}, false
		}
		return word(binary.LittleEndian.Uint32(code)).bits()
	}
	return Bits{}, false
}

// ones is a number of n bits that are 1.
func ones(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}
