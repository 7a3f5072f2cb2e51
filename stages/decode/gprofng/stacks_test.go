package gprofng_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// Stacks whose parts are linked, defined elsewhere, missing, or circular
// (gprofng-experiment 4.1 to 4.4).
func TestStacks(t *testing.T) {
	words := func(w ...uint64) []uint64 { return w }
	for _, c := range []struct {
		name   string
		record func(e *gprofngtest.Experiment)
		infos  []gprofngtest.Info
		want   decode.RawStack
		lost   []string
	}{
		{name: "whole", infos: []gprofngtest.Info{gprofngtest.Native(1, 2, 3)}, want: decode.RawStack{Words: words(1, 2, 3)}},
		{name: "empty", want: decode.RawStack{}},
		{name: "truncated", infos: []gprofngtest.Info{gprofngtest.Native(1, decode.MarkTruncated)}, want: decode.RawStack{Words: words(1, decode.MarkTruncated)}},
		{name: "leaf check", infos: []gprofngtest.Info{gprofngtest.Native(1, decode.MarkLeafCheck, 2, 3)}, want: decode.RawStack{Words: words(1, decode.MarkLeafCheck, 2, 3)}},
		{name: "words where marks lie", infos: []gprofngtest.Info{gprofngtest.Native(1, decode.MarkCall, 2, decode.MarkTruncated, decode.NoAddress, 3, decode.MarkTruncated)},
			want: decode.RawStack{Words: words(1, 2, 3, decode.MarkTruncated), Reason: "bad-address"}, lost: []string{"data.frameinfo:bad-address"}},
		{name: "linked", record: func(e *gprofngtest.Experiment) { e.Fragment(9, 0, 3, 4) },
			infos: []gprofngtest.Info{gprofngtest.Linked(9, 1, 2)}, want: decode.RawStack{Words: words(1, 2, 3, 4)}},
		{name: "linked twice", record: func(e *gprofngtest.Experiment) { e.Fragment(9, 8, 2); e.Fragment(8, 0, 3) },
			infos: []gprofngtest.Info{gprofngtest.Linked(9, 1)}, want: decode.RawStack{Words: words(1, 2, 3)}},
		{name: "reference", record: func(e *gprofngtest.Experiment) { e.Fragment(9, 0, 3, 4) },
			infos: []gprofngtest.Info{gprofngtest.Reference(9)}, want: decode.RawStack{Words: words(3, 4)}},
		{name: "first definition", record: func(e *gprofngtest.Experiment) { e.Fragment(9, 0, 3); e.Fragment(9, 0, 4) },
			infos: []gprofngtest.Info{gprofngtest.Reference(9)}, want: decode.RawStack{Words: words(3)}},
		{name: "missing link", infos: []gprofngtest.Info{gprofngtest.Linked(9, 1, 2)},
			want: decode.RawStack{Words: words(1, 2), Reason: "missing-link"}, lost: []string{"data.frameinfo:missing-link"}},
		{name: "circle", record: func(e *gprofngtest.Experiment) { e.Fragment(9, 8, 2); e.Fragment(8, 9, 3) },
			infos: []gprofngtest.Info{gprofngtest.Linked(9, 1)}, want: decode.RawStack{Words: words(1, 2, 3), Reason: "link-cycle"}, lost: []string{"data.frameinfo:link-cycle"}},
		{name: "java", infos: []gprofngtest.Info{gprofngtest.Native(1), gprofngtest.Java(gprofngtest.JavaFrame{BCI: 5, Method: 0x40}, gprofngtest.JavaFrame{BCI: -3, Method: 0x41})},
			want: decode.RawStack{Words: words(1), Java: []decode.JavaFrame{{BCI: 5, Method: 0x40}, {BCI: -3, Method: 0x41}}}},
		{name: "java truncated", infos: []gprofngtest.Info{gprofngtest.Java(gprofngtest.JavaFrame{BCI: 5, Method: 0x40}, gprofngtest.JavaFrame{Method: decode.MarkTruncated})},
			want: decode.RawStack{Java: []decode.JavaFrame{{BCI: 5, Method: 0x40}, {Method: decode.MarkTruncated}}}},
		{name: "openmp state", infos: []gprofngtest.Info{gprofngtest.Native(1), gprofngtest.OpenMPState(4)},
			want: decode.RawStack{Words: words(1), OMPState: 4}},
		{name: "openmp", infos: []gprofngtest.Info{gprofngtest.Native(1), gprofngtest.OpenMP(2, 7, 8)},
			want: decode.RawStack{Words: words(1), OMP: words(7, 8), OMPState: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onMachines(t, func(t *testing.T, e *gprofngtest.Experiment) {
				// Forward: the stack comes before what it refers to.
				e.FrameWith(77, c.infos...)
				if c.record != nil {
					c.record(e)
				}
				rec := build(t, e)
				if c.want.OMPState == 0 {
					c.want.OMPState = -1
				}
				if d := cmp.Diff([]decode.RawStack{c.want}, rec.Processes[0].Stacks.Expanded()); d != "" {
					t.Error(d)
				}
				wantReasons(t, rec, diagnostic.Error, c.lost...)
			})
		})
	}
}

// Stacks that enter one long chain at different places would need more memory than any recording
// justifies.
func TestHugeStacks(t *testing.T) {
	e := newExperiment(t)
	e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/program")
	const chain = 2000
	fragment := make([]uint64, 100)
	for i := range uint64(chain) {
		e.Fragment(i+1, i, fragment...)
		e.FrameWith(1_000_000+i, gprofngtest.Reference(i+1))
	}
	rec := build(t, e)
	total := 0
	for _, s := range rec.Processes[0].Stacks.Expanded() {
		total += len(s.Words)
	}
	if limit := 1<<20 + 8*chain*900; total > limit || rec.Processes[0].Stacks.Len() != chain {
		t.Errorf("%d stacks have %d words, more than %d", rec.Processes[0].Stacks.Len(), total, limit)
	}
	wantReasons(t, rec, diagnostic.Error, "data.frameinfo:stack-too-long")
}

// Events whose stack is missing share one stack with this reason; the leaf PC of a race makes a
// separate stack.
func TestReferences(t *testing.T) {
	e := newExperiment(t)
	e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/program")
	e.Declare(schema.Race, "")
	stack := e.Frame(0x10, 0x20)
	for i, r := range []struct{ stack, leaf uint64 }{
		{0, 0}, {stack, 0}, {stack, 0x5}, {12345, 0}, {54321, 0}, {stack, 0x6}, {stack, 0x5}, {0, 0x5}, {12345, 0x5}, {54321, 0x5},
	} {
		e.Events(schema.Race).Put(0, &gprofngtest.Layouts[schema.Race][0], gprofngtest.Packet{Time: int64(i), Stack: r.stack, Values: []int64{0, 0, int64(r.leaf)}})
	}
	rec := build(t, e)
	p := rec.Processes[0]
	got, _ := events(t, p, schema.Race)
	if d := cmp.Diff([]int64{-1, 0, 1, 2, 2, 3, 1, 4, 5, 5}, got["raw_stack"]); d != "" {
		t.Error(d)
	}
	want := []decode.RawStack{
		{Words: []uint64{0x10, 0x20}, OMPState: -1},
		{Words: []uint64{0x5, 0x10, 0x20}, OMPState: -1},
		{Reason: "missing-stack", OMPState: -1},
		{Words: []uint64{0x6, 0x10, 0x20}, OMPState: -1},
		{Words: []uint64{0x5}, OMPState: -1},
		{Words: []uint64{0x5}, Reason: "missing-stack", OMPState: -1},
	}
	if d := cmp.Diff(want, p.Stacks.Expanded()); d != "" {
		t.Error(d)
	}
	wantReasons(t, rec, diagnostic.Error, "dataraces:missing-stack")
	if n := rec.Problems.Problems[0].Count; n != 4 {
		t.Errorf("%d events count as without a stack, want 4", n)
	}
}

func TestClockOpenMPState(t *testing.T) {
	e := newExperiment(t)
	e.Declare(schema.Clock, `ptimer="10000" numstates="1"`)
	for i, stack := range []uint64{e.FrameWith(0, gprofngtest.Native(1), gprofngtest.OpenMP(5)), e.Frame(2), 0} {
		e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0], gprofngtest.Packet{Time: int64(i), Stack: stack, Values: []int64{0, 1}})
	}
	p := build(t, e).Processes[0]
	got, _ := events(t, p, schema.Clock)
	if d := cmp.Diff([]int64{5, -1, -1}, got["omp_state"]); d != "" {
		t.Error(d)
	}
	if p.Stacks.Expanded()[0].OMP == nil {
		t.Error("an empty OpenMP user stack is one that was recorded")
	}
}
