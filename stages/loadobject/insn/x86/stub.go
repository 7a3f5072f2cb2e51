package x86

import "stackmill/stages/loadobject/insn"

// StubSlot decodes an entry of a procedure linkage table. See disasm.StubSlot.
func StubSlot(long bool, code []byte, addr uint64) (slot uint64, ok bool) {
	if n := landingPad(code); n > 0 {
		code, addr = code[n:], addr+uint64(n)
	}
	inst, err := Decode(long, code, addr)
	if err != nil || inst.Kind != insn.Jump {
		return 0, false
	}
	return inst.Slot, inst.HasSlot
}

// landingPad returns the length of an endbr64 or endbr32 at the start of code,
// 0 without one.
func landingPad(code []byte) int {
	if len(code) >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && (code[3] == 0xfa || code[3] == 0xfb) {
		return 4
	}
	return 0
}
