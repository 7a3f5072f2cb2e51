package perf

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/queries"
)

// A program's values do not depend on the linker and its form of procedure linkage tables (S22):
// function one calls tiny twice as often as function two calls tiny2, and both have the time in the
// tables.
func TestLinkageTables(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	paths, err := filepath.Glob(filepath.Join(folder, "linkage", "*.data"))
	if err != nil || len(paths) < 42 {
		t.Fatalf("%d recordings, %v", len(paths), err)
	}
	if _, err := ingest(store, paths...); err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	stubs := 0
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".data")
		t.Run(name, func(t *testing.T) {
			c := callers{t, db, filepath.Base(path)}
			value := func(column, where string) int64 {
				return c.number(`SELECT COALESCE(sum(`+column+`), 0)::BIGINT FROM function_metrics WHERE experiment = ? AND mode = 'user' AND metric = 'cpu-clock:u' AND `+where, c.experiment)
			}
			total := value("exclusive", `"function" <> '<Total>'`)
			one, two := value("inclusive", `"function" = 'one'`), value("inclusive", `"function" = 'two'`)
			if one+two < total*90/100 || one < two*14/10 || one > two*28/10 {
				t.Errorf("one has %d, two %d of %d ns", one, two, total)
			}
			if n := value("inclusive", `kind = 'plt'`); n > 0 {
				t.Errorf("the procedure linkage tables have %d ns", n)
			}
			wrong := c.number(`SELECT count(*) FROM callers_callees v JOIN functions f USING (experiment_id, function_id) JOIN load_objects o USING (experiment_id, load_object_id)
				WHERE v.experiment = ? AND relation = 'caller' AND o.path LIKE '/tmp/linkage/%' AND
				NOT ((f.name IN ('one', 'two') AND other = 'main') OR (f.name IN ('tiny', 'chosen') AND other = 'one') OR (f.name IN ('tiny2', 'chosen2') AND other = 'two')
					OR f.name NOT IN ('one', 'two', 'tiny', 'tiny2', 'chosen', 'chosen2'))`, c.experiment)
			if wrong > 0 {
				t.Errorf("%d edges are not those of the source", wrong)
			}
			stubs += int(c.number(`SELECT count(*) FROM raw_frames r JOIN experiments e USING (experiment_id) JOIN locations_wide l USING (experiment_id, location_id)
				JOIN functions f ON f.experiment_id = l.experiment_id AND f.function_id = l.function_id
				WHERE e.experiment = ? AND f.kind = 'plt'`, c.experiment))
		})
	}
	if stubs < 20 {
		t.Errorf("only %d stacks are in procedure linkage tables", stubs)
	}
}
