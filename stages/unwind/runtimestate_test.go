package unwind

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/loadobject/elf/elftest"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

// A runtime leaves its entry points by tail calls: the program's call instruction shows which
// one it entered (S17).
func TestCalledState(t *testing.T) {
	const (
		lazy, tailCall = progBase + elftest.Lazy, progBase + elftest.TailCall
		sec, got       = progBase + elftest.Sec, progBase + elftest.Got
		noPLT, nop     = progBase + elftest.NoPLT, progBase + elftest.Lazy + 8
	)
	path := filepath.Join(t.TempDir(), "importing")
	content := elftest.Importing(elf.EM_X86_64, true,
		"ext_lazy", "GOMP_critical_start", "ext_sec", "GOMP_taskwait", "ext_noplt", "GOMP_barrier")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	p := &decode.Process{Number: 1, Stacks: &decode.Stacks{}, Mappings: []decode.MapEvent{
		{Address: progBase, Size: 0x4000, Modes: 5, Path: path},
		{Address: ompBase, Size: size, Modes: 5, Path: "/lib/libgomp.so.1"},
		{Address: libcBase, Size: size, Modes: 5, Path: "/lib/libc.so.6"},
	}}
	rec := &decode.Recording{Processes: []*decode.Process{p}, Locate: func(path string) []decode.Candidate {
		return []decode.Candidate{{Path: path, Origin: "path"}}
	}}
	r := symbolize.New(rec, rec, linkedFiles{files{
		"/lib/libgomp.so.1": table(symtab.Function{Offset: 0x100, Name: "GOMP_parallel"}, symtab.Function{Offset: 0x200, Name: "GOMP_barrier"},
			symtab.Function{Offset: 0x300, Name: "GOMP_critical_start"}, symtab.Function{Offset: 0x400, Name: "GOMP_taskwait"}),
		"/lib/libc.so.6": parallelProgram["/lib/libc.so.6"],
	}, cache.New(cache.Options{}).Local()})
	set := stacktree.NewTree()
	u := newTestUnwinder(set, rec, r, p)
	for _, tt := range []struct {
		name  string
		words []uint64
		want  string
	}{
		{"called through the table", []uint64{cYield, gStatic, lazy}, "<OMP-critical_section_wait>/S17 lazy"},
		{"without it", []uint64{gStatic, noPLT}, "<OMP-explicit_barrier>/S17 noplt"},
		{"by a tail call of what was called", []uint64{gStatic, tailCall}, "<OMP-critical_section_wait>/S17 tail_call"},
		{"from a thread of the runtime's", []uint64{gStatic, lazy, gStatic, cStart}, "<OMP-critical_section_wait>/S17 lazy"},
		{"an entry point that tells nothing", []uint64{gStatic, sec}, "<OMP-overhead>/S17 sec"},
		{"no function of the runtime's", []uint64{gStatic, got}, "<OMP-overhead>/S17 got"},
		{"no call", []uint64{gStatic, nop}, "<OMP-overhead>/S17 lazy"},
		{"an entry point on the stack", []uint64{gBarrier, nop}, "<OMP-explicit_barrier>/S17 lazy"},
		{"the outermost one tells", []uint64{gBarrier, gStatic, lazy}, "<OMP-critical_section_wait>/S17 lazy"},
	} {
		got := stackOf(u, &decode.RawStack{Words: tt.words}, false, 0)
		if diff := cmp.Diff(tt.want, text(r, set, got, stacktree.User)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
