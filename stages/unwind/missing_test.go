package unwind

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/stacktree"
)

// Chains of frame pointers lack the callers of the procedure linkage table and of signal
// trampolines. An artificial frame replaces them where machine code does not show them.
// Nothing is inserted for other code without information. (S22; TestCallers covers callers
// that machine code shows.)
func TestMissing(t *testing.T) {
	const (
		truncated = decode.MarkTruncated
		kernel    = 0xffffffff81000010
	)
	tests := []struct {
		name          string
		raw           decode.RawStack
		machine, user string
	}{
		{"a leaf of its own", decode.RawStack{Words: []uint64{pcWork, pcMain}}, "work main", ""},
		{"the table", decode.RawStack{Words: []uint64{pcPLT, pcMain}}, "@plt <Missing-caller>/S22 missing main", ""},
		{"the table alone", decode.RawStack{Words: []uint64{pcPLT}}, "@plt", ""},
		{"the table above what is lost", decode.RawStack{Words: []uint64{pcPLT, truncated}}, "@plt <Truncated-stack>/S18", ""},
		{"a trampoline", decode.RawStack{Words: []uint64{pcWork, pcSignal, pcMain}}, "work __restore_rt <Missing-caller>/S22 missing main", ""},
		{"the table, trapped", decode.RawStack{Words: []uint64{kernel, pcPLT, pcMain}, Kernel: 1},
			"<Unknown> @plt <Missing-caller>/S22 missing main", "@plt/S25 <Missing-caller>/S22 missing main"},
		{"a recorded caller", decode.RawStack{Words: []uint64{pcPLT, decode.MarkCall, pcWork, pcMain}, Exact: []int32{2}}, "work/S7 main", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, set, r := unwinder(&decode.Process{})
			tt.raw.Returns, tt.raw.Callers = true, decode.CallersChained
			got := stackOf(u, &tt.raw, false, 0)
			if d := cmp.Diff(tt.machine, text(r, set, got, stacktree.Machine)); d != "" {
				t.Error(d)
			}
			if tt.user == "" {
				tt.user = tt.machine
			}
			if d := cmp.Diff(tt.user, text(r, set, got, stacktree.User)); d != "" {
				t.Error(d)
			}
		})
	}
}

// Without a chain of frame pointers no caller is missing.
func TestNotChained(t *testing.T) {
	u, set, r := unwinder(&decode.Process{})
	got := stackOf(u, &decode.RawStack{Words: []uint64{pcPLT, pcWork, pcMain}, Returns: true}, false, 0)
	if s := text(r, set, got, stacktree.Machine); s != "work/S22 main" {
		t.Error(s)
	}
}

// Whose frame pointer the register holds depends on whether an instruction is a leaf or a call: the
// cached answer for one is never used for the other.
func TestFramePointerOfLeaf(t *testing.T) {
	u, _, _ := unwinder(&decode.Process{})
	location := u.resolve(pcWork)
	leaf := &u.locationEntry(location).frames[1]
	leaf.known, leaf.pointer = true, cfi.FrameOther
	if got := u.framePointer(location, true); got != cfi.FrameOther {
		t.Errorf("a leaf: %v", got)
	}
	if got := u.framePointer(location, false); got != cfi.FrameUnknown {
		t.Errorf("a call in code of which nothing is known: %v", got)
	}
}
