package x86

import "stackmill/stages/loadobject/insn"

// isVector reports whether b starts a VEX, EVEX or XOP prefix. In 32-bit mode, the bytes of VEX and
// EVEX start les, lds or bound if a memory operand follows. XOP's byte starts pop if the second
// byte does not select an opcode map.
func (d *decoder) isVector(b byte) bool {
	second := d.next()
	if d.err != nil {
		return false
	}
	d.pos--
	if b == 0x8f {
		return second&0x1f >= 8
	}
	return d.long || second>>6 == 3
}

// vector decodes the rest of a VEX, EVEX or XOP prefix and the opcode.
func (d *decoder) vector(b byte) form {
	if d.opSize || d.rep != 0 || d.rex != 0 {
		return d.fail(insn.ErrUndefined)
	}
	maps := &vexMaps
	switch b {
	case 0xc5: // two bytes, map 0F
		p := d.next()
		d.encoding, d.number = vex, 1
		d.rex = ^p >> 5 & 4
		d.suffix(p)
	case 0xc4:
		d.prefix(d.take(2), vex, 0x1f)
	case 0x8f:
		maps = &xopMaps
		d.prefix(d.take(2), xop, 0x1f)
	case 0x62:
		maps = &evexMaps
		p := d.take(3)
		if p[0]&8 != 0 || p[1]&4 == 0 { // constant bits
			return d.fail(insn.ErrUndefined)
		}
		d.prefix(p, evex, 7)
		d.length, d.single = p[2]>>5&3, p[2]&0x10 != 0
	}
	if d.table = maps[d.number]; d.table == nil {
		return d.fail(insn.ErrUndefined)
	}
	return d.form(d.next())
}

// prefix decodes the second and third byte of a VEX, XOP or EVEX prefix. mask selects the bits that
// are the number of the opcode map.
func (d *decoder) prefix(p []byte, e encoding, mask byte) {
	d.encoding, d.number = e, p[0]&mask
	d.rex = ^p[0]>>5 | p[1]>>4&8
	d.suffix(p[1])
}

// suffix decodes the last byte of VEX or XOP, or the third byte of EVEX, whose vector length is
// elsewhere.
func (d *decoder) suffix(b byte) {
	d.vvvv = ^b >> 3 & 15
	d.length, d.pp = b>>2&1, b&3
	if !d.long {
		d.rex &= 8
		d.vvvv &= 7
	}
}

// vectorIndex reports whether the memory operand's index is a vector register:
// gathers, scatters and their prefetches.
func (d *decoder) vectorIndex() bool {
	if d.encoding != vex && d.encoding != evex || d.number != 2 || d.pp != pp66 {
		return false
	}
	switch d.op {
	case 0x90, 0x91, 0x92, 0x93:
		return true
	case 0xa0, 0xa1, 0xa2, 0xa3, 0xc6, 0xc7:
		return d.encoding == evex
	}
	return false
}
