package x86

import "encoding/binary"

// immediate decodes the immediate, which follows the operand.
func (d *decoder) immediate(f form) {
	switch f & immMask {
	case immB, relB:
		d.value(1)
	case immW:
		d.value(2)
	case immZ, relZ:
		// With operand size 16, a distance has two bytes, as on AMD processors and in objdump.
		// Intel processors ignore the prefix for the operand size in 64-bit mode.
		d.value(d.sizeZ())
	case immV:
		d.value(d.size('v'))
	case immFar:
		d.take(2 + d.sizeZ())
	case immEnter:
		d.take(3)
	case immOffset:
		d.value(d.addressSize())
	case testB:
		if d.reg() <= 1 {
			d.value(1)
		}
	case testZ:
		if d.reg() <= 1 {
			d.value(d.sizeZ())
		}
	}
}

// value decodes a signed immediate of n bytes.
func (d *decoder) value(n int) {
	switch b := d.take(n); n {
	case 1:
		d.imm = int64(int8(b[0]))
	case 2:
		d.imm = int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		d.imm = int64(int32(binary.LittleEndian.Uint32(b)))
	case 8:
		d.imm = int64(binary.LittleEndian.Uint64(b))
	}
}

func (d *decoder) rexW() bool { return d.rex&8 != 0 }

// sizeZ returns the size in bytes of an immediate of the operand size, but at most 4.
func (d *decoder) sizeZ() int {
	if d.opSize && !d.rexW() {
		return 2
	}
	return 4
}

// addressSize returns the size in bytes of an address that an instruction contains.
func (d *decoder) addressSize() int {
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
