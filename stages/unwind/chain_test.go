package unwind

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

// A chain of frame pointers ends where threads begin, and before a word that follows no call
// (S26): code without frame pointers uses the register for other values.
func TestChainEnds(t *testing.T) {
	content := bytes.Repeat([]byte{0x90}, size)
	for _, at := range []int{0x100, 0x200, 0x500, 0xb00} {
		copy(content[at:], "\x55\x48\x89\xe5") // push %rbp; mov %rsp,%rbp
	}
	copy(content[0x110:], "\xff\x94\x24\x00\x01\x00\x00")         // main calls *0x100(%rsp)
	copy(content[0x220:], "\x41\xff\x54\xc5\x08")                 // work calls *8(%r13,%rax,8)
	copy(content[0xb10:], "\xff\xd0")                             // start_thread calls *%rax
	copy(content[0x800:], "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05") // mov $rt_sigreturn,%rax; syscall
	copy(content[0x900:], "\x55\x48\x89\xe5")                     // push %rbp; mov %rsp,%rbp
	copy(content[0x910:], "\xff\xd0")                             // asyncPreempt calls *%rax
	path := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	functions := *programFiles["/bin/prog"]
	functions.Arch = isa.AMD64
	p := &decode.Process{Number: 1, Stacks: &decode.Stacks{}, Mappings: []decode.MapEvent{{Address: progBase, Size: size, Modes: 5, Path: path}}}
	rec := &decode.Recording{OS: "Linux", Arch: "x86_64", Processes: []*decode.Process{p}, Locate: func(path string) []decode.Candidate {
		return []decode.Candidate{{Path: path, Origin: "path"}}
	}}
	const inMain, inWork, inStart, inPreempt = progBase + 0x117, progBase + 0x225, progBase + 0xb12, progBase + 0x912
	for _, tt := range []struct {
		name    string
		words   []uint64
		callers decode.Callers
		want    string
	}{
		{"calls", []uint64{pcWork, inWork, inMain}, decode.CallersChained, "work work main"},
		{"no call", []uint64{pcWork, inWork, inMain + 8, inMain}, decode.CallersChained, "work work"},
		{"no call, but unwound", []uint64{pcWork, inWork, inMain + 8, inMain}, decode.CallersUnwound, "work work main main"},
		{"a pointer to a function", []uint64{pcWork, progBase + 0x500, inMain}, decode.CallersChained, "work"},
		{"code to which makecontext returns", []uint64{pcWork, progBase + 0xc00}, decode.CallersChained, "work __start_context"},
		{"a signal's trampoline", []uint64{pcWork, pcSignal, inMain}, decode.CallersChained, "work __restore_rt <Missing-caller>/S22 missing main"},
		{"a signal's trampoline by its code", []uint64{pcWork, progBase + 0x800, inMain}, decode.CallersChained, "work runtime.sigreturn__sigaction.abi0 <Missing-caller>/S22 missing main"},
		{"Go's preemption", []uint64{pcWork, inPreempt, inWork + 8, inMain}, decode.CallersChained, "work runtime.asyncPreempt.abi0 work main"},
		{"Go's preemption as it begins", []uint64{progBase + 0x900, inMain}, decode.CallersChained, "runtime.asyncPreempt.abi0 <Missing-caller>/S22 missing main"},
		{"in no load object", []uint64{pcWork, inWork, pcWild, inMain}, decode.CallersChained, "work work <Unknown> main"},
		{"in the first page", []uint64{pcWork, inWork, 0, 0, 0}, decode.CallersChained, "work work"},
		{"the start of a thread", []uint64{pcWork, inStart, inMain}, decode.CallersChained, "work start_thread"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := symbolize.New(rec, rec, files{path: &functions})
			set := stacktree.NewTree()
			p.Stacks = &decode.Stacks{}
			u := newTestUnwinder(set, rec, r, p)
			got := stackOf(u, &decode.RawStack{Words: tt.words, Returns: true, Callers: tt.callers, OMPState: -1}, false, 0)
			if s := text(r, set, got, stacktree.Machine); s != tt.want {
				t.Errorf("got %s, want %s", s, tt.want)
			}
			if n := len(recorded(set, got)); n != len(tt.words) {
				t.Errorf("%d words kept, want %d", n, len(tt.words))
			}
		})
	}
}
