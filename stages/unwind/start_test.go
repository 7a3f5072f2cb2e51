package unwind

import (
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// The outermost function shows whether a stack reaches its thread's start, unless the
// recording says so itself.
func TestCutOff(t *testing.T) {
	const kernel = 0xffffffff81000010
	const start, libc = 0x410010, 0x420010
	old := programFiles
	programFiles = files{
		"/bin/prog": old["/bin/prog"], "/lib/libjvm.so": old["/lib/libjvm.so"],
		"/bin/crt":       table(symtab.Function{Name: "_start"}),
		"/lib/libc.so.6": table(symtab.Function{Offset: 0x800, Name: "qsort"}),
	}
	t.Cleanup(func() { programFiles = old })
	images := []decode.MapEvent{
		{Address: 0x410000, Size: size, Modes: 5, Path: "/bin/crt"},
		{Address: 0x420000, Size: size, Modes: 5, Path: "/lib/libc.so.6"},
	}
	tests := []struct {
		name string
		raw  decode.RawStack
		want stacktree.Cut
	}{
		{"main", decode.RawStack{Words: []uint64{pcWork, pcMain}}, stacktree.NotCut},
		{"a program's entry", decode.RawStack{Words: []uint64{pcWork, start}}, stacktree.NotCut},
		{"code of the C library without a name", decode.RawStack{Words: []uint64{pcWork, libc}}, stacktree.NotCut},
		{"the entry of a stripped program", decode.RawStack{Words: []uint64{pcWork, libc, pcStatic}}, stacktree.NotCut},
		{"the same as the leaf", decode.RawStack{Words: []uint64{libc}}, stacktree.CutNoStart},
		{"a function of the C library", decode.RawStack{Words: []uint64{pcWork, 0x420810}}, stacktree.CutNoStart},
		{"any other function", decode.RawStack{Words: []uint64{pcMain, pcWork}, Callers: decode.CallersChained}, stacktree.CutNoStart},
		{"an uncovered region", decode.RawStack{Words: []uint64{pcWork, pcStatic}}, stacktree.CutNoStart},
		{"in no load object", decode.RawStack{Words: []uint64{pcMain, pcWild}}, stacktree.CutNoStart},
		{"no callers were asked for", decode.RawStack{Words: []uint64{pcMain}, Callers: decode.CallersNone}, stacktree.CutLeafOnly},
		{"unwound", decode.RawStack{Words: []uint64{pcMain, pcWork}, Callers: decode.CallersUnwound}, stacktree.NotCut},
		{"told by the recording", decode.RawStack{Words: []uint64{pcMain, pcWork, decode.MarkTruncated}, Reason: decode.ReasonChainLimit, Callers: decode.CallersChained}, stacktree.NotCut},
		{"truncated", decode.RawStack{Words: []uint64{pcMain, pcWork, decode.MarkTruncated}}, stacktree.NotCut},
		{"the kernel's own", decode.RawStack{Words: []uint64{kernel, kernel + 16}, Kernel: 2}, stacktree.NotCut},
		{"empty", decode.RawStack{}, stacktree.NotCut},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, _, _ := unwinder(&decode.Process{Mappings: images})
			if got := stackOf(u, &tt.raw, false, 0).CutOff; got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
	u, _, r := unwinder(&decode.Process{Mappings: images})
	for name, want := range map[string]bool{"__libc_start_main.isra.0": true, "start_thread": true, "runtime.goexit": true, "restart_thread": false} {
		l := &program.Location{Function: program.FunctionNo(len(r.Program.Functions))}
		r.Program.Functions = append(r.Program.Functions, program.Function{Linkage: name, Aliases: name})
		r.Program.Locations.Add(*l)
		if got := u.isStart(program.LocationNo(r.Program.Locations.Len()-1), true); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
