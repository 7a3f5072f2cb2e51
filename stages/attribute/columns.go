package attribute

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

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

// inBatches calls rows with the ranges of n rows that make a batch each.
func inBatches(n int, rows func(from, to int) error) error {
	for from := 0; from < n; from += schema.RowsAtOnce {
		if err := rows(from, min(from+schema.RowsAtOnce, n)); err != nil {
			return err
		}
	}
	return nil
}

// nodeNumbers returns the column of the numbers of a range of nodes.
func nodeNumbers(from, to int) []int32 {
	column := make([]int32, to-from)
	for i := range column {
		column[i] = int32(from + i)
	}
	return column
}

// parentDistances returns, for a range of nodes, how many nodes before each its parent is; 0
// for the root.
func parentDistances[N ~int32](parents []N, from, to int) []int32 {
	column := nodeNumbers(from, to)
	for i := range column {
		if parent := parents[from+i]; parent >= 0 {
			column[i] -= int32(parent)
		}
	}
	return column
}
