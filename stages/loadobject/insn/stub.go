package insn

import (
	"encoding/binary"
	"slices"

	"stackmill/stages/loadobject/isa"
)

// StubSlot decodes an entry of a procedure linkage table, which lies at addr,
// and returns the address of the word that it takes its jump's target from: an
// entry of the global offset table, whose relocation names the function (S23).
// It is false when the code is no such entry, or is one of those of 32-bit x86
// that find the table through a register.
//
//	x86      [endbr64] jmp *slot
//	A64      [bti c] adrp x16, page; ldr x17, [x16, #n]; add x16, x16, #n; [autia1716] br x17
func StubSlot(arch isa.Arch, code []byte, addr uint64) (slot uint64, ok bool) {
	if arch == isa.ARM64 {
		return stubARM64(code, addr)
	}
	if n := landingPad(code); n > 0 {
		code, addr = code[n:], addr+uint64(n)
	}
	inst, err := Decode(arch, code, addr)
	if err != nil || inst.Kind != Jump {
		return 0, false
	}
	return inst.Slot, inst.HasSlot
}

// landingPad returns the length of an endbr64 or endbr32 at the start of code,
// 0 when there is none.
func landingPad(code []byte) int {
	if len(code) >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && (code[3] == 0xfa || code[3] == 0xfb) {
		return 4
	}
	return 0
}

func stubARM64(code []byte, addr uint64) (uint64, bool) {
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
