// Package filters checks the values of filtered samples of real recordings: against the values of
// all samples, sums by plain SQL, and the peers' own filters.
package filters

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
)

// The recordings: recursion, inlined C++, heap, synchronization, threads, processes, bodies
// of parallel regions; of perf, threads, inlined C++, accesses to memory; of pprof, values of
// both signs.
var (
	experiments = []string{"recur", "cxx", "heap", "sync", "threads", "forkexec", "omp_gcc"}
	perf        = []string{"p_threads_s", "p_cxx_fp"}
	data        = []string{"objects_gcc_O2", "pools_gcc_O1"}
	signed      = "../../../testdata/signed/delta.pb.gz"
)

var (
	store *queries.DB // with all recordings
	from  string      // the folder of recordings that the peers read
)

func TestMain(m *testing.M) {
	suite.Main(m, func(dir string) (db *queries.DB, err error) {
		exp, err := corpus.Dir()
		if err != nil {
			return nil, err
		}
		defer corpus.Remove()
		from = dir
		for _, unpack := range []func(string) error{corpus.Perf, corpus.Data} {
			if err := unpack(dir); err != nil {
				return nil, err
			}
		}
		paths := []string{signed}
		for _, list := range []struct {
			names     []string
			dir, kind string
		}{{experiments, filepath.Join(exp, "exp"), ".er"}, {perf, filepath.Join(dir, "perf"), ".data"}, {data, filepath.Join(dir, "data"), ".data"}} {
			for _, name := range list.names {
				paths = append(paths, filepath.Join(list.dir, name+list.kind))
			}
		}
		store, err = suite.Open(pipeline.Options{Store: filepath.Join(dir, "store"), SymFS: filepath.Join(dir, "symfs")}, paths...)
		for _, name := range []string{"threads", "recur", "cxx", "heap", "sync"} {
			err = errors.Join(err, os.Rename(filepath.Join(exp, "exp", name+".er"), filepath.Join(dir, name+".er")))
		}
		return store, err
	})
}

func narrow(t *testing.T, f queries.Filter, views ...string) *queries.DB {
	t.Helper()
	db, err := store.Filter(t.Context(), f, views...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// texts returns the rows of a query, in order, as texts.
func texts(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	if rows.Err() != nil {
		t.Fatalf("%s: %v", query, rows.Err())
	}
	return list
}

// sums returns a query for the number of a view's rows and a checksum of them.
func sums(view string) string {
	return "SELECT printf('%d rows, %d', count(*), COALESCE(sum(hash(v)::HUGEINT), 0)) FROM " + view + " v"
}

// If every sample passes, all views are the same as without a filter.
func TestAll(t *testing.T) {
	all := narrow(t, queries.Filter{Where: []string{"true"}})
	views, err := queries.Views()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		if len(v.Parameters) > 0 {
			continue
		}
		if want, got := texts(t, store.DB, sums(v.Name)), texts(t, all.DB, sums(v.Name)); want[0] != got[0] {
			t.Errorf("%s of all samples has %s, want %s", v.Name, got, want)
		}
	}
}

// Every invariant of every view holds for filtered samples.
func TestInvariants(t *testing.T) {
	some := narrow(t, queries.Filter{Where: []string{"time_ns // 1000000 % 3 = 0 OR stack_has('^(fact|main)') AND cpu <> 0"}})
	views, err := queries.Views()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		for _, i := range v.Invariants {
			if n := texts(t, some.DB, "SELECT count(*)::VARCHAR FROM ("+i.SQL+")")[0]; n != "0" {
				t.Errorf("%s: %s rows contradict: %s", v.Name, n, i.Doc)
			}
		}
	}
}

// Filters that partition the samples partition the values.
func TestParts(t *testing.T) {
	const all = "SELECT printf('%s %s %s %s %d', experiment_id, mode, metric, \"function\" || function_id, sum(exclusive)) FROM function_metrics GROUP BY experiment_id, mode, metric, \"function\", function_id HAVING sum(exclusive) > 0 ORDER BY ALL"
	want := texts(t, store.DB, all)
	for _, parts := range [][]string{
		{"kind IN ('clock', 'perf')", "kind = 'heap'", "kind NOT IN ('clock', 'perf', 'heap')"},
		{"thread_id % 2 = 0", "thread_id % 2 = 1"},
		{"cpu = 0", "cpu = 1", "cpu NOT IN (0, 1)"},
		{"time_ns < 300_000_000", "time_ns BETWEEN 300_000_000 AND 999_999_999", "time_ns >= 1_000_000_000"},
		{"stack_has('work')", "NOT stack_has('work')"},
		{"leaf = '' OR leaf < 'm'", "leaf >= 'm'"},
	} {
		var union []string
		for i, where := range parts {
			part := narrow(t, queries.Filter{Where: []string{where}}, "function_metrics")
			name := fmt.Sprintf("memory.main.part_%d", i)
			texts(t, part.DB, "CREATE OR REPLACE TABLE "+name+" AS FROM function_metrics")
			union = append(union, "FROM "+name)
		}
		got := texts(t, store.DB, strings.Replace(all, "FROM function_metrics", "FROM ("+strings.Join(union, " UNION ALL ")+")", 1))
		if strings.Join(want, "\n") != strings.Join(got, "\n") {
			t.Errorf("%s: the parts have %d values, the whole %d, or others", parts, len(got), len(want))
		}
	}
}

// Each column and function of a condition selects the same samples as plain SQL.
func TestConditions(t *testing.T) {
	const ofFrames = "(s.experiment_id, s.raw_stack_id) IN (SELECT (m.experiment_id, m.raw_stack_id) FROM mode_stacks m JOIN frames f USING (experiment_id, stack_id) JOIN functions n USING (experiment_id, function_id) JOIN load_objects o USING (experiment_id, load_object_id) WHERE m.mode = '%s' AND %s)"
	for _, test := range []struct {
		where, mode, plain string
	}{
		{"experiment LIKE 'recur%'", "", "(SELECT experiment FROM experiment_names n WHERE n.experiment_id = s.experiment_id) LIKE 'recur%'"},
		{"host = 'vm'", "", "(SELECT host FROM experiments n WHERE n.experiment_id = s.experiment_id) = 'vm'"},
		{"pid % 3 = 1", "", "(SELECT pid FROM processes p WHERE p.experiment_id = s.experiment_id AND p.process = s.process) % 3 = 1"},
		{"process > 1", "", "s.process > 1"},
		{"thread_id % 5 = 0 AND cpu = 1", "", "s.thread_id % 5 = 0 AND s.cpu = 1"},
		{"wall >= '2026-11-21 06:19:06'", "", "(SELECT epoch_us(started) FROM experiments e WHERE e.experiment_id = s.experiment_id) + s.time_ns // 1000 >= epoch_us(TIMESTAMP '2026-11-21 06:19:06')"},
		{"kind = 'sync'", "", "s.kind = 'sync'"},
		{"stack_has('work')", "", fmt.Sprintf(ofFrames, "user", "regexp_matches(n.name, 'work')")},
		{"stack_has('omp_fn')", "machine", fmt.Sprintf(ofFrames, "machine", "regexp_matches(n.name, 'omp_fn')")},
		{"object_has('^libc')", "expert", fmt.Sprintf(ofFrames, "expert", "regexp_matches(o.name, '^libc')")},
		{"leaf = 'fact'", "", fmt.Sprintf(ofFrames, "user", "f.position = 0 AND n.name = 'fact'")},
		{"leaf_object LIKE 'libc%'", "", fmt.Sprintf(ofFrames, "user", "f.position = 0 AND o.name LIKE 'libc%'")},
	} {
		db := narrow(t, queries.Filter{Where: []string{test.where}, Mode: test.mode}, "function_metrics")
		// A location has its function's load object, except for code outside of any load object.
		const values = "SELECT printf('%%s %%s %%d', experiment_id, metric, sum(value)) FROM (%s) GROUP BY experiment_id, metric HAVING sum(value) > 0 ORDER BY ALL"
		want := texts(t, store.DB, fmt.Sprintf(values, "SELECT s.experiment_id, v.metric, v.value FROM sample_metrics v JOIN samples_wide s USING (experiment_id, sample) WHERE "+test.plain))
		got := texts(t, db.DB, fmt.Sprintf(values, "SELECT experiment_id, metric, inclusive AS value FROM function_metrics WHERE mode = 'expert' AND \"function\" = '<Total>' AND kind = 'artificial'"))
		if len(want) == 0 || strings.Join(want, "\n") != strings.Join(got, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", test.where, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
