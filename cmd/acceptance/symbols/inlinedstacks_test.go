package symbols

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/report"
)

// Stacks of heap and I/O calls and folded stacks show inlined functions separately, all with the
// same values (S10). calls.c says how often each function calls.
func TestInlinedStacks(t *testing.T) {
	dir := filepath.Join(folder, "inlined stacks")
	if err := corpus.Inlined(dir); err != nil {
		t.Fatal(err)
	}
	db, err := ingest(filepath.Join(dir, "store"), pipeline.Options{SymFS: filepath.Join(dir, "symfs")},
		filepath.Join(dir, "exp"), filepath.Join(dir, "perf/cxx_gcc_5.data"), filepath.Join(dir, "perf/c_clang_4.data"), filepath.Join(dir, "perf/cxx_clang_lto.data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })

	for text, want := range map[string]map[string]string{
		"SELECT stack, concat_ws(' ', allocations, allocated_bytes, leaks, leaked_bytes) FROM inline_heap_stacks": {
			"heap;waste;obtain;malloc": "10 1000 10 1000", "heap;use;obtain;malloc": "20 20000 0 0", "heap;malloc": "1 7 1 7",
		},
		"SELECT stack, concat_ws(' ', sum(writes), sum(written_bytes), sum(others)) FROM inline_io_stacks": {
			"io;put;write": "5 5000 0", "io;twice;put;write": "6 1800 0", "io;write": "1 11 0", "open": "0 0 1", "close": "0 0 1",
		},
		"SELECT stack, concat_ws(' ', value, samples) FROM inline_folded": {
			"heap;waste;obtain;malloc": "1000 10", "heap;use;obtain;malloc": "20000 20", "heap;malloc": "7 1",
		},
	} {
		where := " WHERE mode = 'user' AND experiment = 'calls.er'"
		switch {
		case strings.HasSuffix(text, "inline_folded"):
			where += " AND metric = 'heapallocbytes'"
		case strings.HasSuffix(text, "inline_io_stacks"):
			where += " GROUP BY stack"
		}
		got := map[string]string{}
		query(t, db, func(r *sql.Rows) error {
			var stack, values string
			err := r.Scan(&stack, &values)
			_, below, _ := strings.Cut(stack, "main;")
			got[below] = values
			return err
		}, text+where)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", text, d)
		}
	}
	testInlinedInvariants(t, db)
	for _, name := range []string{"folded", "leaks", "allocations", "heap", "io-stacks"} {
		plain, inlined := sums(t, db, name, false), sums(t, db, name, true)
		if d := cmp.Diff(plain, inlined); d != "" || len(plain) == 0 {
			t.Errorf("report %s has other sums with inlined functions: (-without +with)\n%s", name, d)
		}
	}
}

// testInlinedInvariants checks the invariants of views with inlined functions.
func testInlinedInvariants(t *testing.T, db *queries.DB) {
	t.Helper()
	views, err := queries.Views()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		if !strings.HasPrefix(v.Name, "inline_") {
			continue
		}
		for _, i := range v.Invariants {
			query(t, db, func(r *sql.Rows) error {
				var n int
				err := r.Scan(&n)
				if n != 0 {
					t.Errorf("%s: %d rows contradict: %s", v.Name, n, i.Doc)
				}
				return err
			}, "SELECT count(*) FROM ("+i.SQL+")")
		}
	}
}

// sums returns the sums of a report's counts in user mode by experiment, metric and column.
func sums(t *testing.T, db *queries.DB, name string, inline bool) map[string]int64 {
	t.Helper()
	r := report.Defaults()
	r.Inline, r.Metric = inline, "all"
	if err := r.About(name, true); err != nil {
		t.Fatal(err)
	}
	q, err := report.Ask(context.Background(), db, &r)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := q.Table(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for _, row := range rows {
		for _, c := range r.Columns {
			if c.As != report.Words {
				all[fmt.Sprint(row.Text("experiment"), " ", row["metric"], " ", c.Name)] += row.Number(c.Name)
			}
		}
	}
	return all
}
