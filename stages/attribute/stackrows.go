package attribute

import (
	"errors"
	"math"

	"stackmill/schema"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// stackTreeRows emits the tree of stacks, its frames, and the recorded stacks.
func (r *Result) stackTreeRows(emit Emit) error {
	t, ids := &r.Stacks.Nodes, schema.NewLabels(r.ExperimentID)
	err := inBatches(t.Len(), func(from, to int) error {
		frames := make([]int32, 0, to-from)
		for _, f := range t.Label[from:to] {
			frames = append(frames, int32(f))
		}
		return emit.release(schema.StackTree, ids.Array(0, to-from), schema.Int32s(nodeNumbers(from, to)),
			schema.Int32s(parentDistances(t.Parent, from, to)), schema.Int32s(t.Below[from:to]), schema.Int32s(frames))
	})
	return errors.Join(err, schema.CloseAll(r.frameRows(emit), r.recordedRows(emit)))
}

func (r *Result) frameRows(emit Emit) *schema.Rows {
	rows := r.Rows(schema.TreeFrames, emit).Expect(len(r.Stacks.Frames)).Labels("part", "", "native", "java", "openmp")
	for _, mode := range []string{"user_rule", "expert_rule", "machine_rule"} {
		rows.Labels(mode, schema.FrameRules()...)
	}
	for n, f := range r.Stacks.Frames {
		rows.Int32(int32(n)).Label(int(f.Part))
		if f.Part == stacktree.Inserted {
			rows.Null()
		} else {
			rows.Int64(int64(f.Word))
		}
		if f.Part == stacktree.Java {
			rows.Int64(int64(f.BCI))
		} else {
			rows.Null()
		}
		appendLocation(rows, f.Own)
		for m, shown := range f.Shown {
			appendLocation(rows, shown)
			rows.Label(int(f.Rules[m]))
		}
	}
	return rows
}

// appendLocation appends a location's number, null for None.
func appendLocation(rows *schema.Rows, n program.LocationNo) {
	if n < 0 {
		rows.Null()
		return
	}
	rows.Int32(int32(n))
}

func (r *Result) recordedRows(emit Emit) *schema.Rows {
	rows := r.Rows(schema.RecordedStacks, emit).Expect(len(r.Stacks.Recorded))
	for i := range r.Stacks.Recorded {
		s := &r.Stacks.Recorded[i]
		rows.Int32(int32(i)).Int32(s.Process)
		if s.From != math.MinInt64 {
			rows.Int64(s.From)
		} else {
			rows.Null()
		}
		rows.Int32(int32(s.Node))
		for _, leaf := range s.Leaf {
			rows.Int32(int32(s.Node - leaf))
		}
		rows.Text(r.Stacks.Reasons[s.Reason]).Int32(int32(i) - int32(s.First))
		if s.Form >= 0 {
			rows.Int32(s.Form)
		} else {
			rows.Null()
		}
	}
	return rows
}
