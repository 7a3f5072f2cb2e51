package unwind

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
)

// Return addresses become the PCs of calls (S21). The interrupted PC and the signal trampoline,
// known by a name or from the recording, do not.
func TestCallPCs(t *testing.T) {
	const mark = decode.MarkTruncated
	tests := []struct {
		name string
		raw  decode.RawStack
		want []uint64
	}{
		{"calls", decode.RawStack{Words: []uint64{pcWork, pcMain, pcNative}}, []uint64{pcWork, pcMain - 1, pcNative - 1}},
		{"a trampoline by its name", decode.RawStack{Words: []uint64{pcWork, pcSignal, pcMain, pcNative}}, []uint64{pcWork, pcSignal, pcMain, pcNative - 1}},
		{"a trampoline without a name", decode.RawStack{Words: []uint64{pcWork, pcStatic, pcMain, pcNative}, Exact: []int32{1, 2}},
			[]uint64{pcWork, pcStatic, pcMain, pcNative - 1}},
		{"a trampoline by both", decode.RawStack{Words: []uint64{pcWork, pcSignal, pcMain, pcNative}, Exact: []int32{1, 2}},
			[]uint64{pcWork, pcSignal, pcMain, pcNative - 1}},
		{"a trampoline in a chain, which lacks the interrupted code", decode.RawStack{Words: []uint64{pcWork, pcSignal, pcMain, pcNative}, Callers: decode.CallersChained},
			[]uint64{pcWork, pcSignal, pcMain - 1, pcNative - 1}},
		{"no address", decode.RawStack{Words: []uint64{pcWork, 0, pcMain}}, []uint64{pcWork, 0, pcMain - 1}},
		{"the leaf is in a trampoline", decode.RawStack{Words: []uint64{pcStatic, pcMain, pcNative}, Exact: []int32{1}}, []uint64{pcStatic, pcMain, pcNative - 1}},
		{"behind the kernel's frames", decode.RawStack{Words: []uint64{1 << 63, 1<<63 + 9, pcWork, pcStatic, pcMain, mark}, Kernel: 2, Exact: []int32{3, 4}},
			[]uint64{1 << 63, 1<<63 + 8, pcWork, pcStatic, pcMain, mark}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, _, _ := unwinder(&decode.Process{})
			tt.raw.Returns = true
			if d := cmp.Diff(tt.want, calls(u, &tt.raw)); d != "" {
				t.Error(d)
			}
		})
	}
}

// calls turns the words of a stack into PCs of calls.
func calls(u *testUnwinder, raw *decode.RawStack) []uint64 {
	stackOf(u, raw, false, 0)
	return u.callPCs(&u.raw)
}
