package x86

import "stackmill/stages/loadobject/insn"

// isVector reports whether b starts a VEX, EVEX or XOP prefix. In 32-bit mode les,
// lds and bound have the same bytes, with a memory operand; pop has the same byte
// as XOP, with a second byte that selects no map.
func (d *decoder) isVector(b byte) (bool, error) {
	if d.pos >= len(d.code) {
		return false, insn.ErrTruncated
	}
	second := d.code[d.pos]
	if b == 0x8f {
		return second&0x1f >= 8, nil
	}
	return d.long || second>>6 == 3, nil
}

// vector decodes the rest of a VEX, EVEX or XOP prefix and the opcode.
func (d *decoder) vector(b byte) (form, error) {
	if d.opSize || d.rep != 0 || d.rex != 0 {
		return 0, insn.ErrUndefined
	}
	var maps *[32]*opcodes
	var err error
	switch b {
	case 0xc5:
		maps, err = &vexMaps, d.vex2()
	case 0xc4:
		maps, err = &vexMaps, d.vex3(vex)
	case 0x8f:
		maps, err = &xopMaps, d.vex3(xop)
	case 0x62:
		maps, err = &evexMaps, d.evex()
	}
	if err != nil {
		return 0, err
	}
	if d.table = maps[d.number]; d.table == nil {
		return 0, insn.ErrUndefined
	}
	op, err := d.next()
	if err != nil {
		return 0, err
	}
	return d.form(op)
}

// payload returns the n bytes of a prefix after its first.
func (d *decoder) payload(n int) ([]byte, error) {
	start := d.pos
	err := d.skip(n)
	return d.code[start:d.pos], err
}

// vex2 decodes VEX of two bytes, whose map is 0F.
func (d *decoder) vex2() error {
	p, err := d.payload(1)
	if err != nil {
		return err
	}
	d.encoding, d.number = vex, 1
	d.rex = ^p[0] >> 5 & 4
	d.suffix(p[0])
	return nil
}

// vex3 decodes VEX of three bytes, or XOP.
func (d *decoder) vex3(e encoding) error {
	p, err := d.payload(2)
	if err != nil {
		return err
	}
	d.encoding, d.number = e, p[0]&0x1f
	d.rex = ^p[0]>>5 | p[1]>>4&8
	d.suffix(p[1])
	return nil
}

// evex decodes EVEX.
func (d *decoder) evex() error {
	p, err := d.payload(3)
	if err != nil {
		return err
	}
	if p[0]&8 != 0 || p[1]&4 == 0 { // constant bits
		return insn.ErrUndefined
	}
	d.encoding, d.number = evex, p[0]&7
	d.rex = ^p[0]>>5 | p[1]>>4&8
	d.suffix(p[1])
	d.length, d.single = p[2]>>5&3, p[2]&0x10 != 0
	return nil
}

// suffix decodes the last byte of VEX, or the middle byte of EVEX, which does not have
// the length.
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
