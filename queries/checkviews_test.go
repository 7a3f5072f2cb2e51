package queries

import (
	"fmt"
	"strings"
	"testing"

	"stackmill/schema/storedir"
)

// Small batches are checked together, large ones are divided by experiment; each visible experiment
// is in exactly one part.
func TestLargeBatchesAreParted(t *testing.T) {
	var batches []storedir.Batch
	for n, rows := range []int64{10, 20, 4 * checkRows, 2 * checkRows, 30} {
		b := storedir.Batch{Commit: storedir.Commit{Batch: fmt.Sprint(n), Files: []storedir.File{{Rows: rows}}}}
		for e := range 4 {
			b.Experiments = append(b.Experiments, storedir.Entry{ExperimentID: fmt.Sprint(n, ".", e)})
		}
		if n == 3 {
			b.Hidden = []string{"3.0", "3.2", "3.3"}
		}
		batches = append(batches, b)
	}
	var got []string
	for _, part := range splitForCheck(batches) {
		var ids []string
		for _, e := range experimentsOf(part) {
			ids = append(ids, e.ExperimentID)
		}
		got = append(got, strings.Join(ids, " "))
	}
	want := "0.0 0.1 0.2 0.3 1.0 1.1 1.2 1.3|2.0|2.1|2.2|2.3|3.1 4.0 4.1 4.2 4.3"
	if strings.Join(got, "|") != want {
		t.Errorf("%s, want %s", strings.Join(got, "|"), want)
	}
}
