package x86

// MemoryDisplacement returns where the displacement of the memory operand of a 64-bit
// instruction stands, of which code is all, how many bytes it takes and what it is. It is
// 0 for those without one, and for encodings in which more than the operand depends on it.
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
