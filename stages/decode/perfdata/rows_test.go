package perfdata

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stackmill/internal/spill"
	"stackmill/schema"
)

// Rows keep their order, and existing rows are not copied when rows are added.
func TestRows(t *testing.T) {
	some := newRowBatch(1000, 0)
	var l processRows
	var first *int64
	for n, next := 0, int64(0); n < 3*schema.BatchRows; n += some.len() {
		some.reset(0, 0)
		for range 1 + n%997 {
			some.add(&row{wide: [wideColumns]int64{rowTime: next}})
			next++
		}
		if l.add(some, 0); first == nil {
			first = &l.batches[0].wide[rowTime][0]
		}
	}
	var times []int64
	for _, b := range l.batches {
		times = append(times, b.wide[rowTime]...)
	}
	for i, time := range times {
		if time != int64(i) {
			t.Fatalf("row %d has the time %d", i, time)
		}
	}
	if len(times) != l.n || first != &l.batches[0].wide[rowTime][0] {
		t.Errorf("%d rows of %d, the first has moved: %t", len(times), l.n, first != &l.batches[0].wide[rowTime][0])
	}
	if !slices.ContainsFunc(l.batches, func(b rowBatch) bool { return b.len() == schema.BatchRows }) {
		t.Error("no piece is a whole batch")
	}
}

// A new batch has room according to the rows in memory, not to those already spilled: many
// processes may have spilled most of their rows.
func TestRowsAside(t *testing.T) {
	space := spill.New(0, func() (spill.File, error) { return os.Create(filepath.Join(t.TempDir(), "rows")) })
	defer space.Close()
	some := newRowBatch(2*schema.BatchRows, 0)
	for i := range 2 * schema.BatchRows {
		some.add(&row{wide: [wideColumns]int64{rowTime: int64(i)}})
	}
	var l processRows
	l.add(some, 0)
	if err := l.spill(space); err != nil {
		t.Fatal(err)
	}
	l.add(some.part(0, 1), 0)
	if n := cap(l.batches[0].wide[rowTime]); n != fewRows {
		t.Errorf("room for %d rows after all were spilled", n)
	}
	if last, err := l.part(l.parts()-1, space, 0); err != nil || last.len() != 1 || l.n != some.len()+1 {
		t.Errorf("%d rows in the last part, %d in all: %v", last.len(), l.n, err)
	}
}
