package perf

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"stackmill/queries"
)

// At a return instruction the frame pointer is the caller's again, also in code without call frame
// information: there, main, which only calls outer, has no other callee (S22, S26).
func TestReturns(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	if _, err := ingest(store, filepath.Join(folder, "returns")); err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	want := map[string]string{"leaf": "middle", "middle": "outer", "outer": "main"}
	for _, mode := range []string{"fp", "dwarf"} {
		inferred := 0
		callers{t, db, mode + ".data"}.query(func(r *sql.Rows) error {
			var callee, caller, rule string
			var n int
			err := r.Scan(&callee, &caller, &rule, &n)
			if want[callee] != "" && want[callee] != caller {
				t.Errorf("%s: %s calls %s in %d stacks", mode, caller, callee, n)
			}
			if rule == "S22 inferred" {
				inferred += n
			}
			return err
		}, `SELECT f.name, g.name, b.rule, count(*) FROM frames a
			JOIN frames b ON b.experiment_id = a.experiment_id AND b.stack_id = a.stack_id AND b.position = a.position + 1
			JOIN functions f ON f.experiment_id = a.experiment_id AND f.function_id = a.function_id
			JOIN functions g ON g.experiment_id = b.experiment_id AND g.function_id = b.function_id
			JOIN experiments e ON e.experiment_id = a.experiment_id WHERE e.experiment = $1 GROUP BY ALL`, mode+".data")
		if inferred == 0 {
			t.Errorf("%s: no sample at a return", mode)
		}
	}
}
