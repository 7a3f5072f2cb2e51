package samples

import (
	"testing"

	"stackmill/stages/attribute"
	"stackmill/stages/decode"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// A leaf without callers and a leaf whose callers were lost are two recorded stacks at one node of
// the tree, each with its reason.
func TestReasonsApart(t *testing.T) {
	rec := &decode.Recording{}
	p := &decode.Process{Number: 1, Stacks: decode.StacksOf(
		decode.RawStack{Words: []uint64{0x401000}, OMPState: -1},
		decode.RawStack{Words: []uint64{0x401000}, OMPState: -1, Reason: "missing-stack"},
	)}
	resolver := symbolize.New(rec, rec, nil)
	stacks := NewStackIndex()
	resolved := resolver.Process(p, "map.xml")
	u := unwind.New(unwind.NewCache(), unwind.NewTreeBuilder(stacks.Tree).Add, resolver, unwind.NewFrameTables(nil, &rec.Problems), resolved, p)
	reader := unwind.NewStackReader(u.Add)
	reader.Process(resolved, p.Stacks)
	ps := stacks.Process(p, p.Stacks, reader)
	first, second := ps.stackNo(0, 0, 0), ps.stackNo(1, 0, 0)
	reader.Flush()
	u.Flush()
	stacks.SetEnds()
	a, b := stacks.Recorded[first], stacks.Recorded[second]
	if len(stacks.Recorded) != 2 || a.Node != b.Node || stacks.Reasons[a.Reason] != cutTexts[stacktree.CutNoStart] || stacks.Reasons[b.Reason] != reasonTexts["missing-stack"] {
		t.Errorf("%+v and %+v, reasons %q", a, b, stacks.Reasons)
	}
}

// A stack counts as a different one while other code is mapped at its addresses. Samples may go
// back in time: each kind of data starts over.
func TestStacksInTime(t *testing.T) {
	rec := &decode.Recording{Locate: decode.AtPath}
	p := &decode.Process{Number: 1, Stacks: decode.StacksOf(
		decode.RawStack{Words: []uint64{0x401000}, OMPState: -1},
		decode.RawStack{Words: []uint64{0x801000}, OMPState: -1},
	)}
	mapped := func(at int64, address uint64, path string) decode.MapEvent {
		return decode.MapEvent{Time: at, Address: address, Size: 0x2000, Modes: 5, Path: path}
	}
	p.Mappings = []decode.MapEvent{
		mapped(0, 0x400000, "old"), mapped(0, 0x800000, "library"),
		{Time: 100, Unmap: true, Address: 0x400000}, mapped(100, 0x400000, "new"),
	}
	resolver := symbolize.New(rec, rec, nil)
	stacks := NewStackIndex()
	reader := unwind.NewStackReader(func(*unwind.StackBatch) {})
	reader.Process(resolver.Process(p, "map.xml"), p.Stacks)
	ps := stacks.Process(p, p.Stacks, reader)
	for i, tt := range []struct {
		raw  int32
		at   int64
		want attribute.RecordedStackNo
	}{
		{0, 10, 0}, {0, 90, 0}, {1, 20, 1}, {0, 100, 2}, {0, 500, 2}, {1, 100, 1},
		{0, 10, 0}, {0, 99, 0}, {1, 30, 1}, {0, 150, 2}, {0, 99, 0},
	} {
		if got := ps.stackNo(tt.raw, 0, tt.at); got != tt.want {
			t.Errorf("%d: stack %d at %d has number %d, want %d", i, tt.raw, tt.at, got, tt.want)
		}
	}
}
