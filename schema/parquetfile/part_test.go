package parquetfile

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
)

// Joined columns, once unpacked, equal what Arrow concatenates of the same arrays: slices of
// others, with and without missing values.
func TestJoinedPart(t *testing.T) {
	table := &schema.Table{Name: "joined", Columns: []schema.Column{
		{Name: "experiment_id", Type: schema.Label},
		{Name: "wide", Type: schema.Int64, Null: true},
		{Name: "narrow", Type: schema.Int32, Null: true},
		{Name: "label", Type: schema.Label, Null: true},
		{Name: "text", Type: schema.String, Null: true},
		{Name: "truth", Type: schema.Bool, Null: true},
	}}
	var batches []arrow.RecordBatch
	for n, id := range []string{"one", "two", "one"} {
		r := schema.NewRows(table, id, func(_ *schema.Table, b arrow.RecordBatch) error {
			batches = append(batches, b.NewSlice(int64(n), b.NumRows()-3))
			return nil
		})
		for i := range 30 {
			if n == 1 && i < 20 || i%4 == 3 {
				r.Append(nil, nil, nil, nil, nil)
			} else {
				r.Append(int64(i)<<40, int32(-i*n), []string{"a", "b", "c"}[(i+n)%3], "text", i%5 > n)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range table.Columns {
		c := &table.Columns[i]
		var arrays []arrow.Array
		rows := 0
		for _, b := range batches {
			arrays, rows = append(arrays, b.Column(i)), rows+int(b.NumRows())
		}
		want, err := array.Concatenate(arrays, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		p, err := joinPart(c, arrays)
		if err != nil {
			t.Fatal(err)
		}
		var r numberBuffers
		for range 2 { // in memory that is used again
			got := r.arrays(c, []pendingRows{{rows, []columnPart{p}}}, 0)[0]
			if !array.Equal(got, want) || got.NullN() != want.NullN() {
				t.Errorf("column %s: %v, want %v", c.Name, got, want)
			}
		}
	}
}
