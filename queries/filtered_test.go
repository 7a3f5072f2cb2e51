package queries

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

func filtered(t *testing.T, db *DB, f Filter) *DB {
	t.Helper()
	n, err := db.Filter(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// TestFilterKeepsAll compares all views of a session in which every sample passes with the
// unfiltered ones.
func TestFilterKeepsAll(t *testing.T) {
	for _, text := range []string{storetest.Two, storetest.Data} {
		db := open(t, storetest.New(t, text))
		all := filtered(t, db, Filter{Where: []string{"true"}})
		views, err := Views()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range views {
			query := "FROM " + v.Name + " ORDER BY ALL"
			switch {
			case v.Name == "passing":
				query = "FROM passing('inline line') ORDER BY ALL"
			case slices.Contains([]string{"timeline_by", "cpu_timeline_by", "interval_metrics"}, v.Name):
				query = "FROM " + v.Name + "(100_000_000) ORDER BY ALL"
			case len(v.Parameters) > 0:
				continue // they are made of the others
			}
			if diff := cmp.Diff(rows(t, db.DB, query), rows(t, all.DB, query)); diff != "" {
				t.Errorf("%s of all samples differs:\n%s", v.Name, diff)
			}
		}
	}
}

// TestFilteredSums compares values of some samples with values worked out by hand.
func TestFilteredSums(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	const first = "experiment = 'monday/test.1.er'"
	for _, test := range []struct {
		filter Filter
		query  string
		want   []string
	}{
		{Filter{Threads: []int64{4712}}, "SELECT function, exclusive // 1e6, inclusive // 1e6 FROM function_metrics WHERE mode = 'user' AND metric = 'totalcpu' AND " + first + " ORDER BY inclusive DESC, function",
			[]string{"<Total> 30 30", "main 0 30", "g 20 20", "<Unknown> 10 10", "f 0 10"}},
		{Filter{Between: []string{"1s,"}, CPUs: []int64{0}}, "SELECT depth, function, attributed // 1e6, exclusive // 1e6 FROM call_tree WHERE mode = 'expert' AND metric = 'totalcpu' AND " + first + " ORDER BY ALL",
			[]string{"0 <Total> 20 10", "1 main 10 0", "2 f 10 0", "3 f._omp_fn.0 10 10"}},
		{Filter{Between: []string{"2026-01-02T03:04:06,"}, CPUs: []int64{0}}, "SELECT stack, value // 1e6 FROM folded WHERE mode = 'user' AND metric = 'totalcpu' AND " + first + " ORDER BY ALL",
			[]string{"<Total> 10", "main;f 10"}},
		{Filter{Where: []string{"stack_has('omp')"}, Mode: "machine"}, "SELECT count(*), sum(value) // 1e6 FROM sample_metrics v JOIN experiment_names USING (experiment_id) WHERE metric = 'totalcpu' AND " + first, []string{"2 20"}},
		{Filter{Where: []string{"stack_has('omp')"}}, "SELECT count(*) FROM sample_metrics", []string{"0"}},
		{Filter{Where: []string{"leaf = 'g'"}}, "SELECT thread_id, value // 1e6 FROM thread_metrics WHERE mode = 'user' AND metric = 'totalcpu' AND " + first + " ORDER BY ALL", []string{"4711 20", "4712 20"}},
		{Filter{Where: []string{"leaf = 'g'"}, Inline: true}, "SELECT sum(value) // 1e6 FROM thread_metrics WHERE mode = 'user' AND metric = 'totalcpu' AND " + first, []string{"60"}},
		{Filter{Where: []string{"leaf = ''"}}, "SELECT reason, value // 1e6 FROM unattributed WHERE mode = 'user' AND metric = 'totalcpu' AND " + first, []string{"no call stack recorded 10"}},
		{Filter{PIDs: []int64{4711}, Where: []string{"kind = 'clock'", "experiment LIKE 'monday%' --"}}, "SELECT count(DISTINCT experiment_id) FROM samples", []string{"1"}},
	} {
		if diff := cmp.Diff(test.want, rows(t, filtered(t, db, test.filter).DB, test.query)); diff != "" {
			t.Errorf("%+v: %s:\n%s", test.filter, test.query, diff)
		}
	}
}

// TestFilteredInvariants checks the views' invariants in filtered sessions.
func TestFilteredInvariants(t *testing.T) {
	views, err := Views()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{storetest.Two, storetest.Data} {
		db := open(t, storetest.New(t, text))
		some := filtered(t, db, Filter{Where: []string{"time_ns // 10_000_000 % 2 = 1 OR stack_has('omp')"}})
		for _, v := range views {
			for _, i := range v.Invariants {
				if got := rows(t, some.DB, i.SQL); len(got) > 0 {
					t.Errorf("%s.%s does not hold: %s", v.Name, i.Name, strings.Join(got, "\n"))
				}
			}
		}
		for _, s := range schema.Tables {
			if len(s.Key) == 0 {
				continue
			}
			if got := rows(t, some.DB, keyCheck(s)); len(got) > 0 {
				t.Errorf("keys of %s: %s", s.Name, strings.Join(got, "\n"))
			}
		}
	}
}

func TestWrongFilters(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	for where, want := range map[string]string{
		"thread = 1":                    `a sample has no column "thread", did you mean`,
		"thread_id =":                   "syntax error",
		"true), (false":                 "is not one expression",
		"true) FROM samples WHERE (1=1": "is not one expression",
		"1=1; DROP TABLE x":             "syntax error",
		"leaf = (SELECT 'g')":           "has a subquery",
		"sum(cpu) > 1":                  "cannot contain aggregates",
		"count(*) OVER () > 1":          "has a window",
		"cpu = 'x'":                     "Could not convert",
		"stack_has('(')":                "missing closing )",
		"stack_has(leaf)":               "takes one argument, a text in single quotes",
		"#3 > 0":                        "has a positional reference",
	} {
		_, err := db.Filter(context.Background(), Filter{Where: []string{where}})
		if wrong := new(FilterError); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", where, err, want)
		}
	}
	for _, between := range []string{"1", ",", "a,b", "2026-13-01,", "20s,10s", "1s,1s", "2026-11-21T02:10,2026-11-21T02:00"} {
		if _, err := db.Filter(context.Background(), Filter{Between: []string{between}}); err == nil {
			t.Errorf("time %q is accepted", between)
		}
	}
	if got := rows(t, db.DB, "SELECT schema_name FROM duckdb_schemas() WHERE schema_name LIKE 'filtered%'"); len(got) > 0 {
		t.Errorf("sessions that failed left %s", got)
	}
}

func TestShares(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	shares, err := filtered(t, db, Filter{Threads: []int64{4712}}).Shares(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := Share{"00000000000000aa", "totalcpu", "ns", 30e6, 80e6}
	if !slices.Contains(shares, want) {
		t.Errorf("shares are %v, want one to be %v", shares, want)
	}
}

// A session has no rows of experiments that are kept as sums only, even if a batch has no other
// experiments.
func TestFilteredSummaries(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	const query, rest = "SELECT experiment, mode, metric, function, exclusive, inclusive FROM function_metrics", " WHERE experiment_id = '00000000000000bb'"
	filters := []Filter{{Where: []string{"true"}}, {Hide: []string{"app"}}}
	var want [][]string
	for _, f := range filters {
		want = append(want, rows(t, filtered(t, open(t, store), f).DB, query+rest+" ORDER BY ALL"))
	}
	look, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	if err := look.Delete([]string{"00000000000000aa"}, storedir.Summary, ""); err != nil {
		t.Fatal(err)
	}
	for i, f := range filters {
		n := filtered(t, open(t, store), f)
		if diff := cmp.Diff(want[i], rows(t, n.DB, query+" ORDER BY ALL")); len(want[i]) == 0 || diff != "" {
			t.Errorf("%+v: %s", f, diff)
		}
		remarks, err := n.Remarks(t.Context())
		if err != nil || !slices.ContainsFunc(remarks, func(r string) bool { return strings.Contains(r, "kept as sums, without samples") }) {
			t.Errorf("%+v: remarks are %q, %v", f, remarks, err)
		}
	}
}

// A session that was made for some views fails when another is read.
func TestFilteredForSomeViews(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	some, err := db.Filter(context.Background(), Filter{CPUs: []int64{1}}, "thread_metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer some.Close()
	if got := rows(t, some.DB, "SELECT value // 1e6 FROM thread_metrics WHERE mode = 'user' AND metric = 'totalcpu'"); !slices.Equal(got, []string{"30"}) {
		t.Errorf("thread_metrics has %s", got)
	}
	for _, view := range []string{"function_metrics", "callers_callees", "line_metrics", "call_tree", "function_trends", "load_object_metrics", "source", "pc_metrics", "data_object_metrics"} {
		if r, err := some.Query("SELECT count(*) FROM " + view + " WHERE mode = 'user'"); err == nil || !strings.Contains(err.Error(), "made for other views") {
			t.Errorf("%s can be read: %v", view, err)
			_ = r.Close()
		}
	}
}

// The first metric of a filtered session is one with samples left, and its sample_metrics hold the
// samples that passed.
func TestFilteredViews(t *testing.T) {
	// The second experiment has a metric without values.
	db := open(t, storetest.New(t, strings.Replace(storetest.Two, "  heapallocbytes Bytes~Allocated bytes heap\n", "  totalcpu CPU ns clock\n  heapallocbytes Bytes~Allocated bytes heap\n", 1)))
	some := filtered(t, db, Filter{Where: []string{"kind = 'heap'"}})
	const first = "SELECT metric FROM default_metrics WHERE experiment_id = '00000000000000bb'"
	if usual, got := rows(t, db.DB, first), rows(t, some.DB, first); usual[0] != "totalcpu" || got[0] != "heapallocbytes" {
		t.Errorf("the first metric is %s, and %s of heap calls", usual, got)
	}
	for _, query := range []string{"FROM sample_metrics", "FROM timeline_by(1000)"} {
		if n := len(plan(t, some, query).scans()); n > 4 {
			t.Errorf("%s reads the store %d times", query, n)
		}
	}
}
