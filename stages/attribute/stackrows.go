package attribute

import (
	"errors"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
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
		rows.Int64If(f.Part != stacktree.Inserted, int64(f.Word)).Int64If(f.Part == stacktree.Java, int64(f.BCI))
		rows.Int32If(f.Own >= 0, int32(f.Own))
		for m, shown := range f.Shown {
			rows.Int32If(shown >= 0, int32(shown)).Label(int(f.Rules[m]))
		}
	}
	return rows
}

func (r *Result) recordedRows(emit Emit) *schema.Rows {
	rows := r.Rows(schema.RecordedStacks, emit).Expect(len(r.Stacks.Recorded))
	for i := range r.Stacks.Recorded {
		s := &r.Stacks.Recorded[i]
		rows.Int32(int32(i)).Int32(s.Process).Int64If(s.From != math.MinInt64, s.From).Int32(int32(s.Node))
		for _, leaf := range s.Leaf {
			rows.Int32(int32(s.Node - leaf))
		}
		rows.Text(r.Stacks.Reasons[s.Reason]).Int32(int32(i) - int32(s.First))
		rows.Int32If(s.Form >= 0, s.Form)
	}
	return rows
}

// Columns emits rows. The caller releases the columns.
func (emit Emit) Columns(t *schema.Table, columns ...arrow.Array) error {
	rows := array.NewRecordBatch(t.Arrow(), columns, int64(columns[0].Len()))
	defer rows.Release()
	return emit(t, rows)
}

// release emits rows and then releases the columns.
func (emit Emit) release(t *schema.Table, columns ...arrow.Array) error {
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	return emit.Columns(t, columns...)
}

// inBatches splits n rows into batches, and calls rows for each batch: [from, to).
func inBatches(n int, rows func(from, to int) error) error {
	for from := 0; from < n; from += schema.RowsAtOnce {
		if err := rows(from, min(from+schema.RowsAtOnce, n)); err != nil {
			return err
		}
	}
	return nil
}

// nodeNumbers returns the numbers from, from+1, ..., to-1 as a column.
func nodeNumbers(from, to int) []int32 {
	column := make([]int32, to-from)
	for i := range column {
		column[i] = int32(from + i)
	}
	return column
}

// parentDistances returns, for each of the nodes [from, to), its number minus its parent's; 0 for
// the root.
func parentDistances[N ~int32](parents []N, from, to int) []int32 {
	column := nodeNumbers(from, to)
	for i := range column {
		if parent := parents[from+i]; parent >= 0 {
			column[i] -= int32(parent)
		}
	}
	return column
}
