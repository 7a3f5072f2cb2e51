package x86

import (
	"bytes"
	"encoding/binary"

	"stackmill/stages/loadobject/insn"
)

// numberSlot is the opcode of `mov $n,%r11d`. Entries that mold writes load their number with it.
var numberSlot = []byte{0x41, 0xbb}

// StubSlot decodes an entry of a procedure linkage table. See disasm.StubSlot.
func StubSlot(long bool, code []byte, addr uint64) (slot uint64, ok bool) {
	at := landingPad(code)
	if long && bytes.HasPrefix(code[at:], numberSlot) {
		at += min(len(numberSlot)+4, len(code)-at)
	}
	inst, err := Decode(long, code[at:], addr+uint64(at))
	switch {
	case err == nil && inst.Kind == insn.Jump:
		return inst.Slot, inst.HasSlot
	case long:
		return retpolineSlot(code[at:], addr+uint64(at))
	}
	return 0, false
}

// retpolineSlot decodes an entry in the form of lld that returns to its target instead of jumping
// to it, because an indirect jump could be mispredicted. The entry loads the slot into %r11 and
// jumps to code that all entries share. An entry that is bound lazily first calls that code.
func retpolineSlot(code []byte, addr uint64) (slot uint64, ok bool) {
	const size = 7 // of mov slot(%rip),%r11
	if len(code) < size || code[0] != 0x4c || code[1] != 0x8b || code[2] != 0x1d {
		return 0, false
	}
	slot = addr + size + uint64(int64(int32(binary.LittleEndian.Uint32(code[3:]))))
	inst, err := Decode(true, code[size:], addr+size)
	if err == nil && inst.Kind == insn.Call && inst.HasTarget {
		next := size + inst.Len
		inst, err = Decode(true, code[next:], addr+uint64(next))
	}
	return slot, err == nil && inst.Kind == insn.Jump && inst.HasTarget
}

// landingPad returns the length of an endbr64 or endbr32 at the start of code; 0 without one.
func landingPad(code []byte) int {
	if len(code) >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && (code[3] == 0xfa || code[3] == 0xfb) {
		return 4
	}
	return 0
}
