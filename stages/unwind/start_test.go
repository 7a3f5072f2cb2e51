package unwind

import (
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/symbolize"
)

// Whether a stack reaches its thread's start: by the outermost frame's function,
// unless the recording tells.
func TestCutOff(t *testing.T) {
	const kernel = 0xffffffff81000010
	const start, libc = 0x410010, 0x420010
	old := program
	program = files{
		"/bin/prog": old["/bin/prog"], "/lib/libjvm.so": old["/lib/libjvm.so"],
		"/bin/crt":       table(symtab.Function{Name: "_start"}),
		"/lib/libc.so.6": table(symtab.Function{Offset: 0x800, Name: "qsort"}),
	}
	t.Cleanup(func() { program = old })
	images := []decode.MapEvent{
		{Address: 0x410000, Size: size, Modes: 5, Path: "/bin/crt"},
		{Address: 0x420000, Size: size, Modes: 5, Path: "/lib/libc.so.6"},
	}
	tests := []struct {
		name string
		raw  decode.RawStack
		want Cut
	}{
		{"main", decode.RawStack{Words: []uint64{pcWork, pcMain}}, NotCut},
		{"a program's entry", decode.RawStack{Words: []uint64{pcWork, start}}, NotCut},
		{"code of the C library without a name", decode.RawStack{Words: []uint64{pcWork, libc}}, NotCut},
		{"the entry of a stripped program", decode.RawStack{Words: []uint64{pcWork, libc, pcStatic}}, NotCut},
		{"the same as the leaf", decode.RawStack{Words: []uint64{libc}}, CutNoStart},
		{"a function of the C library", decode.RawStack{Words: []uint64{pcWork, 0x420810}}, CutNoStart},
		{"any other function", decode.RawStack{Words: []uint64{pcMain, pcWork}, Callers: decode.CallersChained}, CutNoStart},
		{"an uncovered region", decode.RawStack{Words: []uint64{pcWork, pcStatic}}, CutNoStart},
		{"in no load object", decode.RawStack{Words: []uint64{pcMain, pcWild}}, CutNoStart},
		{"no callers were asked for", decode.RawStack{Words: []uint64{pcMain}, Callers: decode.CallersNone}, CutLeafOnly},
		{"unwound", decode.RawStack{Words: []uint64{pcMain, pcWork}, Callers: decode.CallersUnwound}, NotCut},
		{"told by the recording", decode.RawStack{Words: []uint64{pcMain, pcWork, decode.MarkTruncated}, Reason: decode.ReasonChainLimit, Callers: decode.CallersChained}, NotCut},
		{"truncated", decode.RawStack{Words: []uint64{pcMain, pcWork, decode.MarkTruncated}}, NotCut},
		{"the kernel's own", decode.RawStack{Words: []uint64{kernel, kernel + 16}, Kernel: 2}, NotCut},
		{"empty", decode.RawStack{}, NotCut},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, _, _ := unwinder(&decode.Process{Image: images})
			if got := stackOf(u, &tt.raw, false, 0).CutOff; got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
	u, _, r := unwinder(&decode.Process{Image: images})
	for name, want := range map[string]bool{"__libc_start_main.isra.0": true, "start_thread": true, "runtime.goexit": true, "restart_thread": false} {
		l := &symbolize.Location{Function: symbolize.FunctionNo(len(r.Program.Functions))}
		r.Program.Functions = append(r.Program.Functions, symbolize.Function{Linkage: name, Aliases: name})
		r.Program.Locations.Add(*l)
		if got := u.isStart(symbolize.LocationNo(r.Program.Locations.Len()-1), true); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
