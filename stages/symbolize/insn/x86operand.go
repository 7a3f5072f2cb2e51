package insn

// operand is a memory operand's base.
type operand uint8

const (
	register operand = iota // not memory
	computed                // registers
	absolute                // none
	relative                // the instruction pointer
)

// operand decodes ModRM, SIB and displacement.
func (d *x86) operand(f form) (err error) {
	if d.modrm, err = d.next(); err != nil {
		return err
	}
	if regs, ok := d.groupMembers(); ok && regs>>d.reg()&1 == 0 {
		return ErrUndefined
	}
	mod, rm := d.modrm>>6, d.modrm&7
	if mod == 3 || f&regOnly != 0 {
		return nil
	}
	d.memory = computed
	if !d.long && d.adSize {
		return d.operand16(mod, rm)
	}
	base := rm
	if rm == 4 {
		sib, err := d.next()
		if err != nil {
			return err
		}
		base = sib & 7
		if mod == 0 && base == 5 && sib>>3&7 == 4 && d.rex&2 == 0 {
			d.memory = absolute
		}
	}
	switch {
	case mod == 1:
		return d.skip(1)
	case mod == 2:
		return d.skip(4)
	case base != 5:
		return nil
	}
	if rm == 5 {
		d.memory = absolute
		if d.long {
			d.memory = relative
		}
	}
	d.disp, err = d.int32()
	return err
}

// operand16 decodes the displacement of a 16-bit address.
func (d *x86) operand16(mod, rm byte) error {
	switch {
	case mod == 1:
		return d.skip(1)
	case mod == 2 || rm == 6:
		return d.skip(2)
	}
	return nil
}

// reg is the field of ModRM that names a register or extends the opcode.
func (d *x86) reg() byte { return d.modrm >> 3 & 7 }

// groupMembers returns a bit for each value of reg that is an instruction, for
// opcodes that are several instructions.
func (d *x86) groupMembers() (regs byte, ok bool) {
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
