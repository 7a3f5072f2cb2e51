package cfi

import (
	"testing"

	"stackmill/stages/loadobject/isa"
)

// FramePointer tells whose frame the frame pointer points to: in the prologue, body and epilogue of
// functions with a frame, and in functions without one.
func TestFramePointer(t *testing.T) {
	push, mov := []byte{0x41, 0x0e, 16, 0x80 | 6, 2}, []byte{0x43, 0x0d, 6}
	frame := append(append([]byte{}, push...), append(mov, 0x5c, 0x0c, 7, 8)...) // gcc does not say that the epilogue restores rbp
	tests := []struct {
		name    string
		arch    isa.Arch
		program []byte
		want    map[uint64]FramePointer
		keeps   map[uint64]bool
	}{
		{"a frame", isa.AMD64, frame,
			map[uint64]FramePointer{0x10ff: FrameUnknown, 0x1100: FrameOther, 0x1101: FrameOther, 0x1104: FrameOwn, 0x111f: FrameOwn, 0x1120: FrameOther},
			map[uint64]bool{0x1100: true, 0x1101: true, 0x1120: true}},
		{"none", isa.AMD64, nil, map[uint64]FramePointer{0x1100: FrameOther}, map[uint64]bool{0x1100: true}},
		{"a register like any other", isa.AMD64, push, map[uint64]FramePointer{0x1100: FrameOther, 0x1101: FrameOther},
			map[uint64]bool{0x1100: true, 0x1101: false}},
		{"an aligned stack", isa.AMD64, []byte{0x45, 0x0c, 10, 0}, map[uint64]FramePointer{0x1105: FrameUnknown}, nil},
		{"an expression", isa.AMD64, []byte{0x0f, 2, 0x77, 8}, map[uint64]FramePointer{0x1100: FrameUnknown}, nil},
		{"A64", isa.ARM64, []byte{0x44, 0x0e, 32, 0x80 | 29, 4, 0x80 | 30, 3, 0x58, 0x0e, 0, 0xc0 | 29, 0xc0 | 30},
			map[uint64]FramePointer{0x1100: FrameOther, 0x1104: FrameOwn, 0x111b: FrameOwn, 0x111c: FrameOther}, map[uint64]bool{0x1100: true, 0x111c: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newComposer()
			if tt.arch == isa.AMD64 {
				c.common(1, "", 16, nil, amd64CIE...)
			} else {
				c.common(1, "", 30, nil, 0x0c, 31, 0)
			}
			c.function(c.at(0x401100, 0x40), false, tt.program...)
			table := Read(Input{Arch: tt.arch, Order: c.order, Segments: code, EHFrame: c.section()})
			for at, want := range tt.want {
				if got := table.FramePointer(at); got != want {
					t.Errorf("%#x: %d, want %d", at, got, want)
				}
			}
			for at, want := range tt.keeps {
				if got := table.KeepsCaller(at); got != want {
					t.Errorf("%#x: keeps the caller's: %v, want %v", at, got, want)
				}
			}
		})
	}
}
