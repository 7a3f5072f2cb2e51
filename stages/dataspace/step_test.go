package dataspace

import (
	"bytes"
	"encoding/binary"
	"testing"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
)

// A write to the stack changes all slots that it touches, not only the first.
func TestOverwrittenSlots(t *testing.T) {
	for _, x := range []struct {
		at       int64
		size     int
		repeated bool
		word     int64
		left     [4]bool // of the slots at -32, -24, -16 and -8
	}{
		{-24, 8, false, 8, [4]bool{true, false, true, true}},
		{-24, 16, false, 8, [4]bool{true, false, false, true}},
		{-20, 4, false, 8, [4]bool{true, false, true, true}},
		{-20, 4, false, 4, [4]bool{true, true, true, true}},
		{-25, 1, false, 8, [4]bool{false, true, true, true}},
		{-24, 8, true, 8, [4]bool{true, false, false, false}},
		{-64, 8, false, 8, [4]bool{true, true, true, true}},
	} {
		s := &state{}
		s.keep(value{kind: valueFrame, offset: -16, origin: 1}, pointer(typePair, 0), maxSlots)
		for i := range int64(4) {
			s.keep(value{kind: valueFrame, offset: i*8 - 32}, pointer(typePair, i), maxSlots)
		}
		s.overwrite(value{kind: valueFrame, offset: x.at}, &insn.Access{Size: x.size, Repeated: x.repeated}, x.word)
		for i, want := range x.left {
			if ok := s.slot(value{kind: valueFrame, offset: int64(i)*8 - 32}) == pointer(typePair, int64(i)); ok != want {
				t.Errorf("%d bytes at %d: slot %d is left: %v", x.size, x.at, i, ok)
			}
		}
		if s.slot(value{kind: valueFrame, offset: -16, origin: 1}) != pointer(typePair, 0) {
			t.Error("a slot of another stack pointer is gone")
		}
	}
}

// The stack slots in the initial states of a function's blocks are bounded, for any number of blocks.
func TestSlotsOfManyBlocks(t *testing.T) {
	const blocks = 3000
	var code []byte
	for i := range int32(2000) { // mov %rsp,-8*i(%rsp)
		code = binary.LittleEndian.AppendUint32(append(code, 0x48, 0x89, 0xa4, 0x24), uint32(-8*i))
	}
	code = append(code, bytes.Repeat([]byte{0x75, 0x00}, blocks)...) // jne to the next
	f := disassemble(&loadObject{symbols: &symtab.Table{Arch: isa.AMD64}}, append(code, 0xc3), isa.AMD64, 0x1000, 0)
	f.stateBefore(len(f.code) - 1)
	kept, most := 0, 0
	for _, b := range f.blocks {
		kept, most = kept+len(b.in.slots), max(most, len(b.in.slots))
	}
	if len(f.blocks) < blocks || kept == 0 || kept > allSlots || most > maxSlots {
		t.Errorf("%d blocks keep %d slots, at most %d", len(f.blocks), kept, most)
	}
}
