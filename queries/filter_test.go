package queries

import (
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// TestOneExperimentIsReadAlone holds the views that are made of the tree of stacks to
// reading no rows of other experiments than the one that is asked for.
func TestOneExperimentIsReadAlone(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	for _, view := range []string{"node_depths", "mode_nodes", "node_stacks", "mode_stacks", "stack_leaves", "raw_stacks", "stacks", "frames"} {
		plan := strings.Join(rows(t, db.DB, "EXPLAIN (FORMAT json) FROM "+view+" WHERE experiment_id = 'a'"), "\n")
		scans := strings.Split(plan, `"name": "READ_PARQUET`)
		if len(scans) == 1 {
			t.Errorf("%s: no file is read", view)
		}
		for _, scan := range scans[1:] {
			// What a scan says of itself ends where the next operator begins.
			scan, _, _ = strings.Cut(scan, `"name"`)
			if !strings.Contains(scan, "experiment_id=") {
				t.Errorf("%s: all experiments are read: %s", view, scan)
			}
		}
	}
}
