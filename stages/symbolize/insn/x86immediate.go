package insn

import "encoding/binary"

// immediate decodes what follows the operand.
func (d *x86) immediate(f form) error {
	switch f & immMask {
	case immB:
		return d.skip(1)
	case immW:
		return d.skip(2)
	case immZ:
		if d.op == 0xc7 && d.modrm == 0xf8 { // xbegin
			return d.distance()
		}
		return d.skip(d.sizeZ())
	case immV:
		if d.rexW() {
			return d.skip(8)
		}
		return d.skip(d.sizeZ())
	case immFar:
		return d.skip(2 + d.sizeZ())
	case immEnter:
		return d.skip(3)
	case immOffset:
		return d.skip(d.addressSize())
	case testB:
		if d.reg() <= 1 {
			return d.skip(1)
		}
	case testZ:
		if d.reg() <= 1 {
			return d.skip(d.sizeZ())
		}
	case relB:
		b, err := d.next()
		d.imm = int64(int8(b))
		return err
	case relZ:
		return d.distance()
	}
	return nil
}

// distance decodes a relative target. With operand size 16 it has two bytes, as on AMD
// processors and in objdump; Intel's ignore the prefix in 64-bit mode.
func (d *x86) distance() error {
	if d.sizeZ() == 2 {
		if err := d.skip(2); err != nil {
			return err
		}
		d.imm = int64(int16(binary.LittleEndian.Uint16(d.code[d.pos-2:])))
		return nil
	}
	v, err := d.int32()
	d.imm = int64(v)
	return err
}

func (d *x86) rexW() bool { return d.rex&8 != 0 }

// sizeZ is the size in bytes of an operand-sized immediate, which is never 8.
func (d *x86) sizeZ() int {
	if d.opSize && !d.rexW() {
		return 2
	}
	return 4
}

// addressSize is the size in bytes of an address in the instruction.
func (d *x86) addressSize() int {
	switch {
	case d.long && d.adSize:
		return 4
	case d.long:
		return 8
	case d.adSize:
		return 2
	}
	return 4
}
