package attribute

import (
	"math"

	"stackmill/schema"
	"stackmill/stages/symbolize"
	"stackmill/stages/tree"
	"stackmill/stages/unwind"
)

// stacks emits the tree of stacks, its frames, and which nodes are recorded stacks.
func (r *Result) stacks(emit Emit) error {
	t := r.Stacks.Tree
	number, below := t.Order()
	nodes := r.rows(schema.StackTree, emit)
	for i, n := range tree.InOrder[unwind.NodeNo](number) {
		up := int32(0)
		if i > 0 {
			up = int32(i) - number[t.Parent[n]]
		}
		nodes.Int32(int32(i)).Int32(up).Int32(below[n]).Int32(int32(t.Label[n]))
	}
	return closeAll(nodes, r.frames(emit), r.recorded(emit, number))
}

// frames emits the frames that nodes refer to.
func (r *Result) frames(emit Emit) *schema.Rows {
	rows := r.rows(schema.TreeFrames, emit).Labels("part", "", "native", "java", "openmp")
	for _, mode := range []string{"user_rule", "expert_rule", "machine_rule"} {
		rows.Labels(mode, schema.FrameRules()...)
	}
	for n, f := range r.Stacks.Tree.Frames {
		rows.Int32(int32(n)).Label(int(f.Part))
		if f.Part == unwind.PutIn {
			rows.Null()
		} else {
			rows.Int64(int64(f.Word))
		}
		if f.Part == unwind.Java {
			rows.Int64(int64(f.BCI))
		} else {
			rows.Null()
		}
		r.location(rows, f.Own)
		for m, location := range f.Shown {
			r.location(rows, location)
			rows.Label(int(f.Rules[m]))
		}
	}
	return rows
}

// location appends a location's identifier, null for None.
func (r *Result) location(rows *schema.Rows, n symbolize.LocationNo) {
	if n < 0 {
		rows.Null()
		return
	}
	rows.Int64(r.Program.Locations[n].ID)
}

// recorded emits the recorded stacks, given the numbers of the tree's nodes.
func (r *Result) recorded(emit Emit, number []int32) *schema.Rows {
	rows := r.rows(schema.RecordedStacks, emit)
	ids := r.stackIDs()
	for i := range r.Stacks.Recorded {
		s := &r.Stacks.Recorded[i]
		rows.Int32(int32(i)).Int32(s.Process)
		if s.From != math.MinInt64 {
			rows.Int64(s.From)
		} else {
			rows.Null()
		}
		rows.Int32(number[s.Node])
		for _, leaf := range s.Leaf {
			rows.Int32(number[s.Node] - number[leaf])
		}
		machine := ids[unwind.Machine][s.Leaf[unwind.Machine]]
		for mode := unwind.User; mode < unwind.Machine; mode++ {
			if id := ids[mode][s.Leaf[mode]]; id != machine {
				rows.Int64(id)
			} else {
				rows.Null()
			}
		}
		rows.Int64(machine).Text(r.Stacks.Reasons[s.Reason])
	}
	return rows
}

// stackIDs returns, by mode and node, the identifiers of what the mode shows of the
// path to the node. They are made of the frames' instructions and rules.
func (r *Result) stackIDs() (ids [unwind.Modes][]int64) {
	t := r.Stacks.Tree
	for mode := range ids {
		frames := make([]int64, len(t.Frames)) // 0: not shown
		for n, f := range t.Frames {
			if location := f.Shown[mode]; location >= 0 { // a rule's number changes when others are added
				frames[n] = schema.NewID("frame").Number(uint64(r.Program.Locations[location].ID)).Text(f.Rules[mode].String()).Sum() | 1
			}
		}
		list := make([]int64, t.Len())
		list[unwind.Root] = schema.NewID("stack").Sum()
		for n := 1; n < t.Len(); n++ {
			list[n] = list[t.Parent[n]]
			if f := frames[t.Label[n]]; f != 0 {
				list[n] = schema.NewID("stack").Number(uint64(list[n])).Number(uint64(f)).Sum()
			}
		}
		ids[mode] = list
	}
	return ids
}
