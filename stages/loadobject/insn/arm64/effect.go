package arm64

import "stackmill/stages/loadobject/insn"

// word is an A64 instruction.
type word uint32

// field returns the n bits from bit lsb on.
func (w word) field(lsb, n uint) uint32 { return uint32(w) >> lsb & (1<<n - 1) }

// signed returns the n bits from bit lsb on as a signed number.
func (w word) signed(lsb, n uint) int64 { return int64(w>>lsb) << (64 - n) >> (64 - n) }

func (w word) bit(n uint) bool { return w>>n&1 != 0 }

// reg returns the general register in the five bits from lsb on; 31 is the zero register.
func (w word) reg(lsb uint) insn.Register {
	if r := insn.Register(w.field(lsb, 5)); r < 31 {
		return r
	}
	return insn.NoRegister
}

// regSP returns the general register in the five bits from lsb on; 31 is the stack pointer.
func (w word) regSP(lsb uint) insn.Register { return insn.Register(w.field(lsb, 5)) }

// width returns the size of the operands in bytes, which bit 31 gives.
func (w word) width() int {
	if w.bit(31) {
		return 8
	}
	return 4
}

// effect collects the effect of the instruction that is being decoded.
type effect struct{ insn.Effect }

// rule handles a class of instructions: the words whose bits under mask are bits.
type rule struct {
	mask, bits uint32
	effect     func(e *effect, w word, addr uint64)
}

// decode sets the effect of word w at addr. The Arm Architecture Reference Manual defines the
// classes of instructions in C4.1.
func (e *effect) decode(w word, addr uint64) {
	for _, r := range groups[w.field(25, 4)] {
		if uint32(w)&r.mask == r.bits {
			r.effect(e, w, addr)
			return
		}
	}
}

// groups are the rules for each value of bits 25 to 28. The first matching rule applies.
var groups = [16][]rule{
	2: sveRules,
	4: memoryRules, 6: memoryRules, 12: memoryRules, 14: memoryRules,
	5: registerRules, 13: registerRules,
	7: floatRules, 15: floatRules,
	8: immediateRules, 9: immediateRules,
	10: branchRules, 11: branchRules,
}

// immediateRules are for data processing with an immediate.
var immediateRules = []rule{
	{0x1f000000, 0x10000000, (*effect).address},
	{0x1f800000, 0x11000000, (*effect).addImmediate},
	{0x1f800000, 0x12000000, (*effect).logicalImmediate},
	{0x1f800000, 0x12800000, (*effect).moveWide},
	{0x1f800000, 0x13000000, (*effect).bitfield},
	{0xbfc00000, 0x91800000, (*effect).writeRdSP}, // addg, subg
	{0x1f800000, 0x11800000, (*effect).writeRd},   // smax and the like
	{0x1f000000, 0x13000000, (*effect).writeRd},   // extr
}

// registerRules are for data processing with registers.
var registerRules = []rule{
	{0x1f000000, 0x0a000000, (*effect).logical},
	{0x1f200000, 0x0b000000, (*effect).addShifted},
	{0x1f200000, 0x0b200000, (*effect).addExtended},
	{0x1fe00000, 0x1a400000, nothing}, // ccmp
	{0x1fe00000, 0x1a000000, (*effect).addCarry},
	{0x3fe00c00, 0x1a800000, (*effect).choose}, // csel; bit 30 makes csinv
	{0x1f400000, 0x1b000000, (*effect).multiply},
	{0x1e000000, 0x1a000000, (*effect).writeRd},
}

// floatRules are for floating point and vectors; most write no general
// register.
var floatRules = []rule{
	{0x5f200000, 0x1e000000, (*effect).fromFloat},
	{0x5f20fc00, 0x1e200000, (*effect).fromFloat},
	{0xbfe0fc00, 0x0e003c00, (*effect).writeRd}, // umov
	{0xbfe0fc00, 0x0e002c00, (*effect).writeRd}, // smov
}

// branchRules are for branches, exceptions and system instructions.
var branchRules = []rule{
	{0xfc000000, 0x94000000, (*effect).writeLR},    // bl
	{0xfeff0000, 0xd63f0000, (*effect).writeLR},    // blr
	{0xffe0001f, 0xd4000001, (*effect).writeX0},    // svc
	{0xffffffe0, 0xd53bd040, (*effect).threadBase}, // mrs of tpidr_el0
	{0xfff00000, 0xd5300000, (*effect).writeRd},    // mrs
	{0xfff80000, 0xd5280000, (*effect).writeRd},    // sysl
	{0xffffffe0, 0xd50b7420, (*effect).zero},       // dc zva
	{0xfffff01f, 0xd503201f, (*effect).hint},
	{0xffffffe0, 0xd5233060, (*effect).writeRd}, // tstart
	{0xffffffe0, 0xd5233160, (*effect).writeRd}, // ttest
}

// sveRules are for scalable vectors. If a class has instructions that write a general register, all
// of the class count as writing one.
var sveRules = []rule{
	{0xfe000000, 0xa4000000, (*effect).sveLoad},
	{0xfe000000, 0xe4000000, (*effect).sveStore},
	{0x9e000000, 0x84000000, (*effect).sveGather},
	{0xffa0f000, 0x04205000, (*effect).writeRdSP}, // addvl
	{0xfe000000, 0x04000000, (*effect).writeRd},
	{0xfe000000, 0x24000000, (*effect).writeRd},
}

func nothing(*effect, word, uint64) {}

func (e *effect) writeRd(w word, _ uint64)   { e.Write(w.reg(0)) }
func (e *effect) writeRdSP(w word, _ uint64) { e.Write(w.regSP(0)) }
func (e *effect) writeLR(word, uint64)       { e.Write(30) }
func (e *effect) writeX0(word, uint64)       { e.Write(0) }

func (e *effect) threadBase(w word, _ uint64) {
	if r := w.reg(0); r != insn.NoRegister {
		e.Compute(insn.ThreadBase, r, 8)
	}
}

// hint handles the instructions that authenticate the link register or x17.
func (e *effect) hint(w word, _ uint64) {
	switch n := w.field(5, 7); {
	case n == 7, n >= 24 && n < 32:
		e.Write(30)
	case n >= 8 && n < 16 && n%2 == 0:
		e.Write(17)
	}
}

// fromFloat handles conversions and moves to a general register.
func (e *effect) fromFloat(w word, _ uint64) {
	if op := w.field(16, 3); op != 2 && op != 3 && op != 7 { // scvtf, ucvtf, fmov to a vector register
		e.Write(w.reg(0))
	}
}
