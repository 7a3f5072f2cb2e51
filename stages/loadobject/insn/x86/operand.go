package x86

import (
	"encoding/binary"

	"stackmill/stages/loadobject/insn"
)

// operandKind is the kind of the operand in ModRM.rm.
type operandKind uint8

const (
	register operandKind = iota
	computed             // memory at an address from registers
	absolute             // memory at an address in the instruction
	relative             // memory relative to the instruction pointer
)

// operand decodes ModRM, SIB and displacement.
func (d *decoder) operand(f form) {
	d.modrm = d.next()
	if regs, ok := d.groupMembers(); ok && regs>>d.reg()&1 == 0 {
		d.fail(insn.ErrUndefined)
		return
	}
	mod, rm := d.modrm>>6, d.modrm&7
	if mod == 3 || f&regOnly != 0 {
		return
	}
	d.memory, d.base, d.index, d.scale = computed, int8(rm|d.rex&1<<3), -1, 1
	if !d.long && d.adSize {
		d.operand16(mod, rm)
		return
	}
	low := rm // the lower three bits of the base
	if rm == 4 {
		low = d.sib()
	}
	switch {
	case mod == 1:
		d.disp8()
		return
	case mod == 0 && low != 5:
		return
	case mod == 0:
		d.base = -1
		if rm == 5 && d.long {
			d.memory = relative
		} else if d.index < 0 {
			d.memory = absolute
		}
	}
	d.disp = int32(binary.LittleEndian.Uint32(d.take(4)))
}

// sib decodes SIB and returns its base field.
func (d *decoder) sib() (base byte) {
	sib := d.next()
	base = sib & 7
	d.base = int8(base | d.rex&1<<3)
	d.scale = 1 << (sib >> 6)
	if d.index = int8(sib>>3&7 | d.rex&2<<2); d.index == 4 && !d.vectorIndex() {
		d.index = -1
	}
	return base
}

// disp8 decodes a displacement of one byte.
func (d *decoder) disp8() { d.disp, d.short = int32(int8(d.next())), true }

// bases16 and indexes16 are the base and index registers of 16-bit addresses, by ModRM.rm.
var (
	bases16   = [8]int8{3, 3, 5, 5, 6, 7, 5, 3}
	indexes16 = [8]int8{6, 7, 6, 7, -1, -1, -1, -1}
)

// operand16 decodes the displacement of a 16-bit address.
func (d *decoder) operand16(mod, rm byte) {
	d.base, d.index = bases16[rm], indexes16[rm]
	switch {
	case mod == 1:
		d.disp8()
	case mod == 2:
		d.disp = int32(int16(binary.LittleEndian.Uint16(d.take(2))))
	case rm == 6:
		d.memory, d.base, d.disp = absolute, -1, int32(binary.LittleEndian.Uint16(d.take(2)))
	}
}

// reg returns ModRM.reg, which is a register, or selects one of several instructions with the same
// opcode.
func (d *decoder) reg() byte { return d.modrm >> 3 & 7 }

// groupMembers returns a bit set of the defined values of ModRM.reg; false if the opcode is not
// that of a group.
func (d *decoder) groupMembers() (regs byte, ok bool) {
	switch {
	case d.table == map0F && d.op == 0xba:
		return 0b11110000, true
	case d.table != legacy && d.table != legacy64:
		return 0, false
	}
	switch d.op {
	case 0x8f:
		return 0b00000001, true
	case 0xc6, 0xc7:
		if d.modrm == 0xf8 { // xabort, xbegin
			return 0b10000000, true
		}
		return 0b00000001, true
	case 0xfe:
		return 0b00000011, true
	case 0xff:
		return 0b01111111, true
	}
	return 0, false
}
