package arm64

import (
	"encoding/binary"
	"slices"
)

// StubSlot decodes an entry of a procedure linkage table. See disasm.StubSlot.
func StubSlot(code []byte, addr uint64) (uint64, bool) {
	if len(code) >= 4 && binary.LittleEndian.Uint32(code) == 0xd503245f { // bti c
		code, addr = code[4:], addr+4
	}
	var w [5]uint32
	n := min(len(w), len(code)/4)
	for i := range n {
		w[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	const (
		adrp = 0x90000010 // adrp x16
		ldr  = 0xf9400211 // ldr x17, [x16, #n]
		br   = 0xd61f0220 // br x17
		braa = 0xd71f0a30 // braa x17, x16
	)
	if w[0]&0x9f00001f != adrp || w[1]&0xffc003ff != ldr {
		return 0, false
	}
	if jumps := w[2:n]; !slices.Contains(jumps, br) && !slices.Contains(jumps, braa) {
		return 0, false
	}
	pages := int64(w[0]>>5&0x7ffff<<2|w[0]>>29&3) << 43 >> 43
	offset := uint64(w[1]>>10&0xfff) * 8
	return addr&^0xfff + uint64(pages<<12) + offset, true
}
