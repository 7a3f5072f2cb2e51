package unwind

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

const (
	ompBase  = 0x7f0000100000
	libcBase = 0x7f0000200000
	collBase = 0x7f0000300000
)

// parallelProgram has a region in function f, and another region in that region. Functions start at
// 0x100, 0x200, ...
var parallelProgram = files{
	"/bin/prog": table(
		symtab.Function{Offset: 0x100, Name: "main"},
		symtab.Function{Offset: 0x200, Name: "f"},
		symtab.Function{Offset: 0x300, Name: "f._omp_fn.0", Kind: funcinfo.Body},
		symtab.Function{Offset: 0x400, Name: "f._omp_fn.1", Kind: funcinfo.Body},
		symtab.Function{Offset: 0x500, Name: "f._omp_fn.0.cold", Kind: funcinfo.Outline},
		symtab.Function{Offset: 0x600, Name: "row"},
		symtab.Function{Offset: 0x700, Name: ".omp_outlined.", Kind: funcinfo.Body},
	),
	"/lib/libgomp.so.1": table(
		symtab.Function{Offset: 0x100, Name: "GOMP_parallel"},
		symtab.Function{Offset: 0x200, Name: "GOMP_barrier"},
		symtab.Function{Offset: 0x300, Name: "GOMP_critical_start"},
		symtab.Function{Offset: 0x400, Name: "GOMP_taskwait"},
		symtab.Function{Offset: 0x500, Name: "__kmpc_fork_call"},
		symtab.Function{Offset: 0x600, Name: "__kmp_fork_call"},
		symtab.Function{Offset: 0x700, Name: "omp_set_lock"},
	),
	"/lib/libc.so.6":          table(symtab.Function{Offset: 0x100, Name: "sched_yield"}, symtab.Function{Offset: 0x200, Name: "start_thread"}, symtab.Function{Offset: 0x300, Name: "qsort"}),
	"/lib/libgp-collector.so": table(symtab.Function{Offset: 0x100, Name: "collector_root"}),
}

const (
	ompMain    = progBase + 0x110
	ompF       = progBase + 0x210
	ompBody    = progBase + 0x310
	ompNested  = progBase + 0x410
	ompCold    = progBase + 0x510
	ompRow     = progBase + 0x610
	ompLost    = progBase + 0x710 // the body of a function that nothing tells
	ompHidden  = progBase + 0x910 // code without a symbol
	gParallel  = ompBase + 0x110
	gBarrier   = ompBase + 0x210
	gCritical  = ompBase + 0x310
	gTaskwait  = ompBase + 0x410
	kForkCall  = ompBase + 0x510
	kForkPhase = ompBase + 0x610
	gLock      = ompBase + 0x710
	gStatic    = ompBase + 0x910
	cYield     = libcBase + 0x110
	cStart     = libcBase + 0x210
	cQsort     = libcBase + 0x310
	collRoot   = collBase + 0x110
)

// parallelUnwinder returns an unwinder of parallelProgram, or of the same process without the
// runtime.
func parallelUnwinder(runtime bool) (*testUnwinder, *stacktree.Tree, *symbolize.Resolver) {
	p := &decode.Process{Number: 1, Stacks: &decode.Stacks{}}
	for path, address := range map[string]uint64{
		"/bin/prog": progBase, "/lib/libgomp.so.1": ompBase, "/lib/libc.so.6": libcBase, "/lib/libgp-collector.so": collBase,
	} {
		if runtime || address != ompBase {
			p.Mappings = append(p.Mappings, decode.MapEvent{Address: address, Size: size, Modes: 5, Path: path})
		}
	}
	rec := &decode.Recording{Processes: []*decode.Process{p}, Locate: func(path string) []decode.Candidate {
		return []decode.Candidate{{Path: path, Origin: "path"}}
	}}
	r := symbolize.New(rec, rec, parallelProgram)
	set := stacktree.NewTree()
	return newTestUnwinder(set, rec, r, p), set, r
}

func TestRuntime(t *testing.T) {
	tests := []struct {
		name  string
		words []uint64
		user  string
	}{
		{"serial code", []uint64{ompRow, ompMain, cStart}, "row main start_thread"},
		{"the C library called by the program", []uint64{cYield, ompF, ompMain}, "sched_yield f main"},
		{"body and its function are one (S11)", []uint64{ompRow, ompBody, gParallel, ompF, ompMain}, "row f/S11 main"},
		{"its function was left by a tail call", []uint64{ompBody, gParallel, ompMain}, "f/S11 main"},
		{"nested regions", []uint64{ompNested, gParallel, ompBody, gParallel, ompF, ompMain}, "f/S11 main"},
		{"a body run without the runtime", []uint64{ompBody, ompF, ompMain}, "f/S11 main"},
		{"recursion is not folded", []uint64{ompBody, gParallel, ompF, ompF, ompMain}, "f/S11 f main"},
		{"recursion inside the region", []uint64{ompRow, ompF, ompBody, gParallel, ompF, ompMain}, "row f f/S11 main"},
		{"the region entered again by recursion", []uint64{ompBody, gParallel, ompF, ompBody, gParallel, ompF, ompMain}, "f/S11 f/S11 main"},
		{"outline part of a body", []uint64{ompCold, gParallel, ompF, ompMain}, "f/S11 main"},
		{"a body of unknown origin", []uint64{ompLost, gParallel, ompMain}, ".omp_outlined. main"},
		{"a body without a symbol", []uint64{ompHidden, gParallel, ompMain}, "<static>@0x800 main"},
		{"a thread of the runtime's is rooted at the function", []uint64{ompRow, ompBody, gStatic, collRoot, cStart}, "row f/S11"},
		{"a thread of the program's", []uint64{ompBody, gParallel, ompF, cStart}, "f/S11 start_thread"},
		{"a function of the program's called back by the C library", []uint64{ompRow, cQsort, ompBody, gStatic, cStart}, "row qsort f/S11"},

		{"explicit barrier (S17)", []uint64{cYield, gStatic, gBarrier, ompBody, gParallel, ompF, ompMain}, "<OMP-explicit_barrier>/S17 f/S11 main"},
		{"in a thread of the runtime's", []uint64{gBarrier, ompBody, gStatic, collRoot, cStart}, "<OMP-explicit_barrier>/S17 f/S11"},
		{"a body that was left by a tail call", []uint64{gBarrier, gStatic, collRoot, cStart}, "<OMP-explicit_barrier>/S17"},
		{"critical section", []uint64{gStatic, gCritical, ompBody, gParallel, ompMain}, "<OMP-critical_section_wait>/S17 f/S11 main"},
		{"lock", []uint64{gLock, ompMain}, "<OMP-lock_wait>/S17 main"},
		{"end of a region", []uint64{gStatic, gParallel, ompF, ompMain}, "<OMP-implicit_barrier>/S17 f main"},
		{"its start is overhead", []uint64{cYield, gStatic, kForkPhase, kForkCall, ompF, ompMain}, "<OMP-overhead>/S17 f main"},
		{"its end", []uint64{cYield, gStatic, kForkCall, ompF, ompMain}, "<OMP-implicit_barrier>/S17 f main"},
		{"the outermost entry point tells", []uint64{gLock, gBarrier, ompF, ompMain}, "<OMP-explicit_barrier>/S17 f main"},
		{"an entry point that tells nothing", []uint64{gStatic, gTaskwait, ompBody, gParallel, ompMain}, "<OMP-overhead>/S17 f/S11 main"},
		{"no entry point", []uint64{gStatic, ompF, ompMain}, "<OMP-overhead>/S17 f main"},
		{"waiting for work", []uint64{cYield, gStatic, collRoot, cStart}, "<OMP-idle>/S17"},
		{"lost frames may be the program's", []uint64{gStatic, decode.MarkTruncated}, "<OMP-overhead>/S17 <Truncated-stack>/S18"},
		{"no frames", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, set, r := parallelUnwinder(true)
			got := stackOf(u, &decode.RawStack{Words: tt.words}, false, 0)
			if diff := cmp.Diff(tt.user, text(r, set, got, stacktree.User)); diff != "" {
				t.Error(diff)
			}
			kept := 0
			for _, f := range shown(set, got, stacktree.Machine) {
				if f.Rule == schema.NoRule || f.Rule == schema.RuleTruncated {
					kept++
				}
			}
			if set.Ends.At(int(got.Path)).Leaf[stacktree.Expert] != set.Ends.At(int(got.Path)).Leaf[stacktree.Machine] || kept != len(tt.words) {
				t.Errorf("machine mode keeps %d of %d frames; expert mode shows stack %d, machine mode %d", kept, len(tt.words), set.Ends.At(int(got.Path)).Leaf[stacktree.Expert], set.Ends.At(int(got.Path)).Leaf[stacktree.Machine])
			}
		})
	}
}

// Stacks of a program without the runtime stay, whatever its functions' names.
func TestNoRuntime(t *testing.T) {
	u, set, r := parallelUnwinder(false)
	got := stackOf(u, &decode.RawStack{Words: []uint64{ompBody, ompMain}}, false, 0)
	if set.Ends.At(int(got.Path)).Leaf[stacktree.User] != set.Ends.At(int(got.Path)).Leaf[stacktree.Machine] || len(u.cache.functions) != 0 {
		t.Errorf("user mode shows %s", text(r, set, got, stacktree.User))
	}
}

// The user stack loses only the runtime's frames, frames that start its threads, and frames that
// fold with a body. Applying the rule again changes nothing.
func TestRuntimeKeepsOwnCode(t *testing.T) {
	words := []uint64{ompMain, ompF, ompBody, ompRow, gParallel, gBarrier, gStatic, cYield, cStart, collRoot, ompLost, ompHidden}
	u, _, r := parallelUnwinder(true)
	name := func(f Frame) string { return u.function(f.Location).Name }
	for seed := range 5000 {
		var stack []uint64
		for i, x := 0, seed*2654435761; i < 1+seed%7; i, x = i+1, x/len(words) {
			stack = append(stack, words[x%len(words)])
		}
		machine := append([]Frame(nil), u.machineFrames(stacktree.OpenMP, stack, wordSource{})...)
		u.hiddenBy = make([]schema.Rule, len(machine))
		for i := range machine {
			machine[i].MachineIndex = int32(i)
		}
		user := append([]Frame(nil), u.hideRuntime(machine)...)
		own := map[string]bool{}
		for _, f := range machine {
			if folded, _ := r.Fold(f.Location); u.classOf(f).owner != schema.RuntimeCode && u.classOf(f).owner != schema.SystemCode {
				own[name(Frame{Location: folded})] = true
			}
		}
		for _, f := range user {
			delete(own, name(f))
			if u.classOf(f).owner == schema.RuntimeCode {
				t.Fatalf("%v: the runtime's %s is left", stack, name(f))
			}
		}
		if len(own) > 0 {
			t.Fatalf("%x: %v is lost", stack, own)
		}
		if again := u.hideRuntime(append([]Frame(nil), user...)); !slices.Equal(again, user) {
			t.Fatalf("%x: not the same the second time", stack)
		}
	}
}
