package perfdata

import (
	"slices"
	"testing"

	"stackmill/schema"
)

// Rows are kept in their order, and are not copied when there are more.
func TestRows(t *testing.T) {
	some := newRowBatch(1000, 0)
	var l rows
	var first *int64
	for n, next := 0, int64(0); n < 3*schema.BatchRows; n += some.len() {
		some.reset(0, 0)
		for range 1 + n%997 {
			some.add(&row{time: next})
			next++
		}
		if l.add(some, 0); first == nil {
			first = &l.batches[0].time[0]
		}
	}
	var times []int64
	for _, b := range l.batches {
		times = append(times, b.time...)
	}
	for i, time := range times {
		if time != int64(i) {
			t.Fatalf("row %d has the time %d", i, time)
		}
	}
	if len(times) != l.n || first != &l.batches[0].time[0] {
		t.Errorf("%d rows of %d, the first has moved: %t", len(times), l.n, first != &l.batches[0].time[0])
	}
	if !slices.ContainsFunc(l.batches, func(b rowBatch) bool { return b.len() == schema.BatchRows }) {
		t.Error("no piece is a whole batch")
	}
}
