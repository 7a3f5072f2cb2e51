package x86

// MemoryDisplacement returns the position, size and value of the displacement of a 64-bit
// instruction's memory operand. The instruction is all of code. It returns zeroes if there is none,
// and for encodings in which it determines more than the operand.
func MemoryDisplacement(code []byte) (at, size int, value int32) {
	d := decoder{code: code, long: true}
	f, err := d.opcode()
	if err != nil || f&modRM == 0 || d.table != legacy64 && d.table != map0F || d.rep != 0 || d.opSize || d.adSize || d.segment {
		return 0, 0, 0
	}
	if d.operand(f) != nil || d.disp == 0 || d.memory != computed && d.memory != relative {
		return 0, 0, 0
	}
	if size = 4; d.short {
		size = 1
	}
	return d.pos - size, size, d.disp
}
