package attribute

import (
	"testing"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// A leaf without callers and one whose callers were lost are two recorded stacks,
// although the recording has an id of neither.
func TestStackIDs(t *testing.T) {
	rec := &decode.Recording{}
	p := &decode.Process{Number: 1, Stacks: []decode.RawStack{
		{Words: []uint64{0x401000}, OMPState: -1},
		{Words: []uint64{0x401000}, OMPState: -1, Reason: "missing-stack"},
	}}
	resolver := symbolize.New(rec, rec, nil)
	stacks := NewStacks()
	u := unwind.New(stacks.Set, resolver, unwind.NewFrameTables(nil, &rec.Problems), resolver.Process(p, "map.xml"), p)
	ps := stacks.Process(p, p.Stacks, u)
	ids := schema.IDs{}
	for raw := range p.Stacks {
		ids[stacks.Recorded[ps.number(int32(raw), 0, 0)].ID] = true
	}
	if len(ids) != 2 {
		t.Errorf("identifiers %v of %+v", ids, stacks.Recorded)
	}
}
