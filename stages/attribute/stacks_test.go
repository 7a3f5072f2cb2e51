package attribute

import (
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// A leaf without callers and one whose callers were lost are two recorded stacks at
// one node of the tree, each with its reason.
func TestReasonsApart(t *testing.T) {
	rec := &decode.Recording{}
	p := &decode.Process{Number: 1, Stacks: decode.StacksOf(
		decode.RawStack{Words: []uint64{0x401000}, OMPState: -1},
		decode.RawStack{Words: []uint64{0x401000}, OMPState: -1, Reason: "missing-stack"},
	)}
	resolver := symbolize.New(rec, rec, nil)
	stacks := NewStacks()
	u := unwind.New(unwind.NewKnown(), stacks.Tree.Grow, resolver, unwind.NewFrameTables(nil, &rec.Problems), resolver.Process(p, "map.xml"), p)
	ps := stacks.Process(p, p.Stacks, u)
	first, second := ps.number(0, 0, 0), ps.number(1, 0, 0)
	u.Flush()
	stacks.Place()
	a, b := stacks.Recorded[first], stacks.Recorded[second]
	if len(stacks.Recorded) != 2 || a.Node != b.Node || stacks.Reasons[a.Reason] != reasons[unwind.CutNoStart] || stacks.Reasons[b.Reason] != reasons["missing-stack"] {
		t.Errorf("%+v and %+v, reasons %q", a, b, stacks.Reasons)
	}
}
