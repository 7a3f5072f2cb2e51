package insn

// isVector tells whether b starts a VEX, EVEX or XOP prefix. In 32-bit mode les,
// lds and bound are the same bytes, with a memory operand; pop is the same byte
// as XOP, with a second byte that chooses no map.
func (d *x86) isVector(b byte) (bool, error) {
	if d.pos >= len(d.code) {
		return false, ErrTruncated
	}
	second := d.code[d.pos]
	if b == 0x8f {
		return second&0x1f >= 8, nil
	}
	return d.long || second>>6 == 3, nil
}

// vector decodes the rest of a VEX, EVEX or XOP prefix and the opcode.
func (d *x86) vector(b byte) (form, error) {
	if d.opSize || d.rep != 0 || d.rex != 0 {
		return 0, ErrUndefined
	}
	start := d.pos
	n := 2
	switch b {
	case 0xc5:
		n = 1
	case 0x62:
		n = 3
	}
	if err := d.skip(n); err != nil {
		return 0, err
	}
	p := d.code[start:d.pos]
	maps, number := &vexMaps, byte(1)
	switch b {
	case 0xc4:
		number = p[0] & 0x1f
	case 0x8f:
		maps, number = &xopMaps, p[0]&0x1f
	case 0x62:
		if p[0]&8 != 0 || p[1]&4 == 0 { // bits that are fixed
			return 0, ErrUndefined
		}
		maps, number = &evexMaps, p[0]&7
	}
	if d.table = maps[number]; d.table == nil {
		return 0, ErrUndefined
	}
	op, err := d.next()
	if err != nil {
		return 0, err
	}
	return d.form(op)
}
