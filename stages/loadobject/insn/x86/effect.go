package x86

import "stackmill/stages/loadobject/insn"

// effect sets the effect of the decoded instruction, which ends at next.
func (d *decoder) effect(e *insn.Effect, f form, next uint64) {
	a, ok := d.action()
	switch {
	case e.Kind == insn.Nop:
	case !ok:
		d.vectorEffect(e, next)
	case a.verb == verbX87:
		d.x87(e, next)
	default:
		w := effectDecoder{d, e, a, d.size(a.size), f, next}
		w.decode()
	}
}

// size returns the size in bytes that a letter of an action means.
func (d *decoder) size(letter byte) int {
	switch letter {
	case 'v':
		if d.rexW() {
			return 8
		}
		return d.sizeZ()
	case 'y':
		return d.element()
	case 's':
		if d.long && (!d.opSize || d.rexW()) {
			return 8
		}
		return d.sizeZ()
	case 'p':
		return 2 + d.size('v')
	case 'x':
		return 2 * d.size('y')
	}
	return [128]int{'b': 1, 'w': 2, 'd': 4, 'q': 8, 'o': 16}[letter&127]
}

// general returns the general register to which instructions refer by number n.
func (d *decoder) general(n byte) insn.Register {
	if d.long {
		return dwarfAMD64[n&15]
	}
	return insn.Register(n & 7)
}

// dwarfAMD64 maps registers' numbers in instructions (ax, cx, dx, bx, sp, bp, si, di, ...) to DWARF
// numbers.
var dwarfAMD64 = [16]insn.Register{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

// The numbers of registers in instructions.
const (
	numberAX = iota
	numberCX
	numberDX
	numberBX
	numberSP
	numberBP
	numberSI
	numberDI
)

// access returns the access to the memory operand of an instruction that ends at address next.
func (d *decoder) access(next uint64) insn.Access {
	m := insn.Access{Base: insn.NoRegister, Index: insn.NoRegister, Disp: int64(d.disp), Thread: d.segment}
	switch d.memory {
	case relative:
		m.Disp += int64(next)
		fallthrough
	case absolute:
		m.Absolute = !d.segment
		if !d.long || d.adSize {
			m.Disp &= 1<<32 - 1
		}
		return m
	}
	if d.base >= 0 {
		m.Base = d.general(byte(d.base))
	}
	switch {
	case d.vectorIndex():
		m.Inexact = true
	case d.index >= 0:
		m.Index, m.Scale = d.general(byte(d.index)), d.scale
	}
	return m
}
