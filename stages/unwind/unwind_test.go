package unwind

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// files maps the paths of a synthetic program to symbol tables.
type files map[string]*symtab.Table

func (f files) Load(path string) (*symtab.Table, error) {
	if t := f[path]; t != nil {
		return t, nil
	}
	return nil, errors.New("no such file")
}

const (
	progBase = 0x400000
	jvmBase  = 0x7f0000000000
	size     = 0x1000
)

func table(functions ...symtab.Function) *symtab.Table {
	for i := range functions {
		f := &functions[i]
		f.Size, f.Address = 0x100, f.Offset
		if f.Linkage == "" {
			f.Linkage = f.Name
		}
		f.Aliases = f.Linkage
		if f.Kind == "" {
			f.Kind = funcinfo.Normal
		}
	}
	draft := symtab.Draft{Functions: functions, Table: symtab.Table{
		Segments: []symtab.Segment{{FileSize: size, MemSize: size, Flags: 5}},
		Regions:  []symtab.Region{{Name: ".text", Size: size}},
		Modules:  []symtab.Module{{Name: "(unknown)"}},
	}}
	return draft.Finish()
}

// programFiles has the program mapped at progBase: functions start at 0x100, 0x200, ...
var programFiles = files{
	"/bin/prog": table(
		symtab.Function{Offset: 0x100, Name: "main"},
		symtab.Function{Offset: 0x200, Name: "work"},
		symtab.Function{Offset: 0x300, Name: "@plt", Kind: funcinfo.PLT},
		symtab.Function{Offset: 0x400, Name: "work [clone .cold]", Linkage: "work.cold", Kind: funcinfo.Outline},
		symtab.Function{Offset: 0x500, Name: "native", Linkage: "Java_demo_Main_run"},
		symtab.Function{Offset: 0x800, Name: "runtime.sigreturn__sigaction.abi0"},
		symtab.Function{Offset: 0x900, Name: "runtime.asyncPreempt.abi0"},
		symtab.Function{Offset: 0xa00, Name: "__restore_rt"},
		symtab.Function{Offset: 0xb00, Name: "start_thread"},
		symtab.Function{Offset: 0xc00, Name: "__start_context"},
	),
	"/lib/libjvm.so": table(symtab.Function{Offset: 0x100, Name: "interpret"}),
}

const (
	pcMain   = progBase + 0x110
	pcWork   = progBase + 0x220
	pcPLT    = progBase + 0x310
	pcCold   = progBase + 0x420
	pcNative = progBase + 0x510
	pcStatic = progBase + 0x710
	pcSignal = progBase + 0xa00
	pcStart  = progBase + 0xb10
	pcJVM    = jvmBase + 0x110
	pcWild   = 0x123456
)

func unwinder(p *decode.Process) (*testUnwinder, *stacktree.Tree, *symbolize.Resolver) {
	p.Number, p.Stacks = 1, &decode.Stacks{}
	p.Mappings = append(p.Mappings,
		decode.MapEvent{Address: progBase, Size: size, Modes: 5, Path: "/bin/prog"},
		decode.MapEvent{Address: jvmBase, Size: size, Modes: 5, Path: "/lib/libjvm.so"},
	)
	rec := &decode.Recording{OS: "Linux", Arch: "x86_64", Processes: []*decode.Process{p}, Locate: func(path string) []decode.Candidate {
		return []decode.Candidate{{Path: path, Origin: "path"}}
	}}
	r := symbolize.New(rec, rec, programFiles)
	set := stacktree.NewTree()
	return newTestUnwinder(set, rec, r, p), set, r
}

// testUnwinder is an unwinder with the reader and the tree of its stacks.
type testUnwinder struct {
	*Unwinder
	reader *StackReader
	tree   *stacktree.Tree
}

func newTestUnwinder(tree *stacktree.Tree, rec *decode.Recording, r *symbolize.Resolver, p *decode.Process) *testUnwinder {
	process := r.Process(p, "map.xml")
	u := New(NewCache(), NewTreeBuilder(tree).Add, r, NewFrameTables(&framesOf{}, &rec.Problems), process, p)
	reader := NewStackReader(u.Add)
	reader.Process(process, p.Stacks)
	return &testUnwinder{u, reader, tree}
}

// normalizedStack is the path of a recorded stack in the tree, and its life.
type normalizedStack struct {
	program.Life
	Path stacktree.PathNo
	stacktree.End
}

// stackOf records a stack and normalizes it.
func stackOf(u *testUnwinder, raw *decode.RawStack, system bool, t int64) normalizedStack {
	n := u.recorded.Stacks.Intern(raw)
	if raw.Java != nil || raw.OMP != nil {
		n = u.recorded.Stacks.Add(raw)
	}
	nodes := u.recorded.Stacks.Nodes()
	more := nodes - len(u.cache.callers)
	u.cache.callers, u.reader.lives.words = append(u.cache.callers, make([]callerState, more)...), append(u.reader.lives.words, make([]lifeNo, more)...)
	u.cache.batch.words = nodes
	path, life := u.reader.Stack(n, system, t)
	u.reader.Flush()
	u.Flush()
	return normalizedStack{life, path, *u.tree.Ends.At(int(path))}
}

// shown returns the frames that a mode shows of a stack, leaf first.
func shown(tree *stacktree.Tree, s normalizedStack, mode stacktree.Mode) (frames []Frame) {
	for n := tree.Ends.At(int(s.Path)).Leaf[mode]; n > 0; n = tree.Parent(n) {
		if f := tree.Frames.At(int(tree.Label(n))); f.Shown[mode] >= 0 {
			frames = append(frames, Frame{Location: f.Shown[mode], Rule: f.Rules[mode]})
		}
	}
	return frames
}

// recorded returns the words of a stack, leaf first.
func recorded(tree *stacktree.Tree, s normalizedStack) (words []uint64) {
	for n := tree.Ends.At(int(s.Path)).Node; n > 0; n = tree.Parent(n) {
		if f := tree.Frames.At(int(tree.Label(n))); f.Part == stacktree.Native {
			words = append(words, f.Word)
		}
	}
	return words
}

// text prints a stack leaf first; frames that a rule made carry its id.
func text(r *symbolize.Resolver, tree *stacktree.Tree, s normalizedStack, mode stacktree.Mode) string {
	var frames []string
	for _, f := range shown(tree, s, mode) {
		name := r.Program.Functions[r.Program.Location(f.Location).Function].Name
		if f.Rule != schema.NoRule {
			name += "/" + f.Rule.String()
		}
		frames = append(frames, name)
	}
	return strings.Join(frames, " ")
}

func TestNative(t *testing.T) {
	const (
		check     = decode.MarkLeafCheck
		truncated = decode.MarkTruncated
		failed    = decode.MarkFailedUnwind
	)
	tests := []struct {
		name  string
		words []uint64
		want  string
	}{
		{"as recorded", []uint64{pcWork, pcMain}, "work main"},
		{"no words", nil, ""},
		{"an uncovered region", []uint64{pcStatic, pcMain}, "<static>@0x600 main"},
		{"in no load object", []uint64{pcWork, pcWild, pcMain}, "work <Unknown> main"},
		{"leaf in the PLT: its time is the call's (S22)", []uint64{pcPLT, pcWork, pcMain}, "work/S22 main"},
		{"only one leaf is dropped", []uint64{pcPLT, pcPLT, pcMain}, "@plt/S22 main"},
		{"PLT not at the leaf stays", []uint64{pcWork, pcPLT, pcMain}, "work @plt main"},
		{"only the PLT", []uint64{pcPLT}, "@plt"},
		{"an interrupted function calls the trampoline (S24)", []uint64{pcWork, pcSignal, pcStatic, pcMain}, "work __restore_rt <static>@0x600 main"},
		{"truncated (S18)", []uint64{pcWork, truncated}, "work <Truncated-stack>/S18"},
		{"only truncated", []uint64{truncated}, "<Truncated-stack>/S18"},
		{"unwinder gave up", []uint64{pcWork, failed}, "work <Stack-unwind-failed>/S18"},
		{"a marker in the middle is no marker", []uint64{truncated, pcMain}, "<Unknown> main"},
		{"outline function (S12)", []uint64{pcCold, pcMain}, "work [clone .cold] work/S12 main"},
		{"outline function that calls", []uint64{pcMain, pcCold, pcMain}, "main work [clone .cold] work/S12 main"},
		{"return register is the caller (S7)", []uint64{pcWork, check, pcMain, pcStatic}, "work main/S7 <static>@0x600"},
		{"return register in no load object is ignored", []uint64{pcWork, check, pcWild, pcMain}, "work main"},
		{"return register that the stack holds, too", []uint64{pcWork, check, pcMain, pcMain}, "work main"},
		{"return register of a stripped leaf is ignored", []uint64{pcStatic, check, pcWork, pcMain}, "<static>@0x600 main"},
		{"return register of an outline leaf is ignored", []uint64{pcCold, check, pcWork, pcMain}, "work [clone .cold] work/S12 main"},
		{"return register of a root function is garbage", []uint64{pcWork, check, pcMain}, "work"},
		{"a leaf check at the end", []uint64{pcWork, check}, "work"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, set, r := unwinder(&decode.Process{})
			got := stackOf(u, &decode.RawStack{Words: tt.words}, false, 0)
			if set.Ends.At(int(got.Path)).Leaf[stacktree.User] != set.Ends.At(int(got.Path)).Leaf[stacktree.Machine] || set.Ends.At(int(got.Path)).Leaf[stacktree.Expert] != set.Ends.At(int(got.Path)).Leaf[stacktree.Machine] {
				t.Error("the modes of a native program differ")
			}
			if diff := cmp.Diff(tt.want, text(r, set, got, stacktree.Machine)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A leaf's caller that the decoder found in the branch records or the return register is inserted
// whatever the leaf is, with the rule.
func TestRestoredCaller(t *testing.T) {
	const register, call = decode.MarkLeafCheck, decode.MarkCall
	const kernel = 0xffffffff81000010
	tests := []struct {
		name          string
		raw           decode.RawStack
		machine, user string
		caller        uint64 // offset of the frame that was put in
	}{
		{"a return register", decode.RawStack{Words: []uint64{pcWork, register, pcNative, pcMain}}, "work native/S7 main", "work native/S7 main", pcNative - 1},
		{"a call", decode.RawStack{Words: []uint64{pcWork, call, pcNative, pcMain}, Exact: []int32{2}}, "work native/S7 main", "work native/S7 main", pcNative},
		{"at a function's first byte", decode.RawStack{Words: []uint64{pcWork, call, progBase + 0x500, pcMain}, Exact: []int32{2}},
			"work native/S7 main", "work native/S7 main", progBase + 0x500},
		{"of a stack of nothing else", decode.RawStack{Words: []uint64{pcWork, register, pcMain}}, "work main/S7", "work main/S7", pcMain - 1},
		{"of a stripped leaf", decode.RawStack{Words: []uint64{pcStatic, register, pcMain}}, "<static>@0x600 main/S7", "<static>@0x600 main/S7", pcMain - 1},
		{"of a part of a function", decode.RawStack{Words: []uint64{pcCold, call, pcMain}, Exact: []int32{2}},
			"work [clone .cold] work/S12 main/S7", "work [clone .cold] work/S12 main/S7", pcMain},
		{"of a leaf in the procedure linkage table", decode.RawStack{Words: []uint64{pcPLT, call, pcWork, pcMain}, Exact: []int32{2}}, "work/S7 main", "work/S7 main", pcWork},
		{"behind the kernel's frames", decode.RawStack{Words: []uint64{kernel, pcWork, call, pcNative, pcMain}, Kernel: 1, Exact: []int32{3}},
			"<Unknown> work native/S7 main", "work/S25 native/S7 main", pcNative},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, set, r := unwinder(&decode.Process{})
			tt.raw.Returns = true
			got := stackOf(u, &tt.raw, false, 0)
			if d := cmp.Diff([]string{tt.machine, tt.user}, []string{text(r, set, got, stacktree.Machine), text(r, set, got, stacktree.User)}); d != "" {
				t.Error(d)
			}
			for _, f := range shown(set, got, stacktree.Machine) {
				if at := r.Program.Location(f.Location).Offset; f.Rule == schema.RuleLeafCheck && at != tt.caller-progBase {
					t.Errorf("the caller is at %#x", at)
				}
			}
			if words := recorded(set, got); !slices.Equal(words, tt.raw.Words) {
				t.Errorf("the words are %#x", words)
			}
		})
	}
}

func TestJavaModes(t *testing.T) {
	methods := map[uint64]decode.JavaMethod{
		1: {Class: "demo.Main", Name: "main", Signature: "([Ljava/lang/String;I)V"},
		2: {Class: "demo.Main", Name: "run", Signature: "()V"},
	}
	threads := []decode.JavaThread{
		{ThreadID: 10, Group: "main", UntilNS: 100},
		{ThreadID: 11, Group: "system", UntilNS: 100},
	}
	java := func(frames ...decode.JavaFrame) []decode.JavaFrame { return frames }
	main, run := decode.JavaFrame{Method: 1, BCI: 4}, decode.JavaFrame{Method: 2, BCI: 7}
	native := decode.JavaFrame{Method: 2, BCI: bciNative}
	const mainName, runName = "demo.Main.main(java.lang.String[], int)", "demo.Main.run()"
	tests := []struct {
		name                  string
		thread                int64
		words                 []uint64
		java                  []decode.JavaFrame
		user, expert, machine string
	}{
		{"methods", 10, []uint64{pcJVM, pcMain}, java(run, main), runName + "/S14 " + mainName + "/S14", runName + "/S14 " + mainName + "/S14", "interpret main"},
		{"a native method's frames are spliced in", 10, []uint64{pcWork, pcNative, pcJVM, pcMain}, java(native, main),
			"work native " + runName + "/S14 " + mainName + "/S14", "work native " + runName + "/S14 " + mainName + "/S14", "work native interpret main"},
		{"the JVM entered again below a native method", 10, []uint64{pcJVM, pcNative, pcJVM, pcMain}, java(run, native, main),
			runName + "/S14 native " + runName + "/S14 " + mainName + "/S14", runName + "/S14 native " + runName + "/S14 " + mainName + "/S14", "interpret native interpret main"},
		{"truncated", 10, []uint64{pcJVM}, java(run, decode.JavaFrame{Method: decode.MarkTruncated}),
			runName + "/S14 <Truncated-stack>/S18", runName + "/S14 <Truncated-stack>/S18", "interpret"},
		{"method 0", 10, []uint64{pcJVM}, java(decode.JavaFrame{}), "<no Java callstack recorded>/S14", "interpret", "interpret"},
		{"no Java stack", 10, []uint64{pcJVM}, nil, "<no Java callstack recorded>/S14", "interpret", "interpret"},
		{"a thread of the JVM's own", 11, []uint64{pcJVM}, nil, "<JVM-System>/S14", "interpret", "interpret"},
		{"a thread the JVM does not know", 12, []uint64{pcJVM}, nil, "<JVM-System>/S14", "interpret", "interpret"},
		{"an unknown method", 10, []uint64{pcJVM}, java(decode.JavaFrame{Method: 99}), "<Unknown>/S14", "<Unknown>/S14", "interpret"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, set, r := unwinder(&decode.Process{JavaMethods: methods, JavaThreads: threads})
			got := stackOf(u, &decode.RawStack{Words: tt.words, Java: tt.java}, SystemThread(threads, tt.thread, 50), 50)
			for mode, pair := range map[string][2]string{
				"user":    {tt.user, text(r, set, got, stacktree.User)},
				"expert":  {tt.expert, text(r, set, got, stacktree.Expert)},
				"machine": {tt.machine, text(r, set, got, stacktree.Machine)},
			} {
				if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
					t.Errorf("%s: %s", mode, diff)
				}
			}
		})
	}
}

func TestOpenMPStates(t *testing.T) {
	for state, want := range map[int]string{
		2: "work/S17 main/S17", 1: "<OMP-overhead>/S17 work/S17 main/S17", 3: "<OMP-implicit_barrier>/S17 work/S17 main/S17",
		9: "<OMP-critical_section_wait>/S17 work/S17 main/S17",
	} {
		t.Run(fmt.Sprint(state), func(t *testing.T) {
			u, set, r := unwinder(&decode.Process{})
			got := stackOf(u, &decode.RawStack{Words: []uint64{pcStatic, pcMain}, OMP: []uint64{pcWork, pcMain}, OMPState: state}, false, 0)
			if diff := cmp.Diff(want, text(r, set, got, stacktree.User)); diff != "" || set.Ends.At(int(got.Path)).Leaf[stacktree.Expert] != set.Ends.At(int(got.Path)).Leaf[stacktree.User] {
				t.Error(diff)
			}
			if diff := cmp.Diff("<static>@0x600 main", text(r, set, got, stacktree.Machine)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A stack means the same code until a mapping that it touches changes.
func TestMeaningChangesWithMappings(t *testing.T) {
	code := func(t int64, name string) decode.MapEvent {
		return decode.MapEvent{Time: t, Address: 0x9000, Size: 16, Path: name, Code: &decode.Code{Function: name}}
	}
	u, set, r := unwinder(&decode.Process{Mappings: []decode.MapEvent{code(0, "one"), code(50, "two")}})
	stack := &decode.RawStack{Words: []uint64{0x9004, pcMain}}
	first, second := stackOf(u, stack, false, 10), stackOf(u, stack, false, 60)
	if first.Until != 50 || second.From != 50 || second.Until != image.Never || first.From != math.MinInt64 {
		t.Errorf("held for %d..%d and %d..%d", first.From, first.Until, second.From, second.Until)
	}
	if a, b := text(r, set, first, stacktree.User), text(r, set, second, stacktree.User); a != "one main" || b != "two main" {
		t.Errorf("%q, then %q", a, b)
	}
	elsewhere := stackOf(u, &decode.RawStack{Words: []uint64{pcWork, pcMain}}, false, 60)
	if elsewhere.From != math.MinInt64 || elsewhere.Until != image.Never {
		t.Errorf("a stack that touches no changing mapping held for %d..%d", elsewhere.From, elsewhere.Until)
	}
}
