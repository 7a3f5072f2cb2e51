package dataspace

import (
	"testing"

	"stackmill/stages/symbolize/insn"
)

// A write to the stack changes all slots that it reaches, not only the one at its
// start.
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
		s := &state{slots: map[value]value{{kind: frame, offset: -16, origin: 1}: pointer(typePair, 0)}}
		for i := range int64(4) {
			s.slots[value{kind: frame, offset: i*8 - 32}] = pointer(typePair, i)
		}
		s.overwrite(value{kind: frame, offset: x.at}, &insn.Access{Size: x.size, Repeated: x.repeated}, x.word)
		for i, want := range x.left {
			if _, ok := s.slots[value{kind: frame, offset: int64(i)*8 - 32}]; ok != want {
				t.Errorf("%d bytes at %d: slot %d is left: %v", x.size, x.at, i, ok)
			}
		}
		if _, ok := s.slots[value{kind: frame, offset: -16, origin: 1}]; !ok {
			t.Error("a slot of another stack pointer is gone")
		}
	}
}
