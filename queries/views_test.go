package queries

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"stackmill/queries/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, store string) *DB {
	t.Helper()
	db, err := Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// rows runs a query and returns each row as its fields, blank-separated.
func rows(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	r, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer r.Close()
	columns, _ := r.Columns()
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	var out []string
	for r.Next() {
		if err := r.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		var fields []string
		for _, v := range values {
			fields = append(fields, fmt.Sprint(v))
		}
		out = append(out, strings.Join(fields, " "))
	}
	if r.Err() != nil {
		t.Fatalf("%s: %v", query, r.Err())
	}
	return out
}

func TestHeadersDescribeTheViews(t *testing.T) {
	for _, store := range []string{"empty", "two"} {
		dir := t.TempDir()
		if store == "two" {
			dir = storetest.New(t, storetest.Two)
		} else if err := os.Mkdir(filepath.Join(dir, "commits"), 0o755); err != nil {
			t.Fatal(err)
		}
		db := open(t, dir)
		views, err := Views()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range views {
			from := v.Name
			if len(v.Parameters) > 0 {
				from = "FROM " + v.Name + v.arguments()
			}
			var want []string
			for _, c := range v.Columns {
				want = append(want, c.Name+" "+c.Type)
				if c.Doc == "" {
					t.Errorf("%s.%s is not described", v.Name, c.Name)
				}
			}
			got := rows(t, db.DB, "SELECT column_name, column_type FROM (DESCRIBE "+from+")")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s in a store of %s: header (-) and view (+) differ:\n%s", v.Name, store, diff)
			}
			if v.Row == "" {
				t.Errorf("%s does not say what a row is", v.Name)
			}
		}
		for _, table := range Relations() {
			var want []string
			for _, c := range table.Columns {
				want = append(want, c.Name+" "+c.Type)
			}
			got := rows(t, db.DB, "SELECT column_name, column_type FROM (DESCRIBE "+table.Name+")")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s in a store of %s: declaration (-) and view (+) differ:\n%s", table.Name, store, diff)
			}
		}
	}
}

// arguments returns values for the parameters that must be given.
func (v View) arguments() string {
	if v.Name == eventMacro { // other names must be those of events
		return "(NULL)"
	}
	var list []string
	for _, p := range v.Parameters {
		if p.Default == "" {
			list = append(list, map[string]string{"VARCHAR": "'%'", "VARCHAR[]": "['%']", "BIGINT": "1", "INTEGER": "1"}[p.Type])
		}
	}
	return "(" + strings.Join(list, ", ") + ")"
}

func TestMetricsViewsStartAlike(t *testing.T) {
	helpers := []string{"labels", "marks", "syscall_names", "error_names", "leaf_functions", "tracepoint_samples", "event_gaps", "default_metrics", "chosen", "compare_functions", "modes", "location_levels", "sample_metrics", "node_depths", "mode_nodes", "node_modes", "node_values",
		"call_paths", "node_paths", "tree_calls", "uneven_nodes", "mode_leaves", "node_stacks", "mode_stacks", "stack_leaves", "leaf_values", "raw_stacks", "raw_frames", "stacks", "frames", "passing", "size_ranges", "byte_ranges", "duration_ranges"}
	views, err := Views()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		if slices.Contains(helpers, v.Name) {
			continue
		}
		first, want := v.ColumnNames(), []string{"experiment_id", "experiment", "mode", "metric", "unit"}
		if !slices.Contains(first, "metric") { // several values side by side
			want = want[:2]
		}
		if v.Name == "function_totals" || v.Name == "nights" { // of several experiments
			want = want[2:]
		}
		if diff := cmp.Diff(want, first[:len(want)]); diff != "" {
			t.Errorf("%s:\n%s", v.Name, diff)
		}
	}
}

// Columns need no quotes, in this engine and in others that reserve the same words.
func TestNoColumnIsReserved(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	reserved := rows(t, db.DB, "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'")
	if !slices.Contains(reserved, "offset") {
		t.Fatal("no words are reserved")
	}
	views, err := Views()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		for _, column := range v.ColumnNames() {
			if slices.Contains(reserved, column) {
				t.Errorf("%s.%s", v.Name, column)
			}
		}
	}
}

func TestEverySQLFileIsAView(t *testing.T) {
	names, err := filepath.Glob("*.sql")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != len(order) {
		t.Errorf("%d .sql files, %d views listed", len(names), len(order))
	}
}

func TestHeaderMistakes(t *testing.T) {
	for name, text := range map[string]string{
		"no colon":       "-- row one thing\nSELECT 1",
		"no such table":  "-- a = nowhere.a\nSELECT 1 AS a",
		"no such column": "-- a = functions.a\nSELECT 1 AS a",
		"no item":        "-- a b c d: e\nSELECT 1",
	} {
		if _, err := parse("v", text); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestViews compares views of the store of two experiments with values worked out by hand in its
// description.
func TestViews(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	const first = "experiment = 'monday/test.1.er'"
	for _, test := range []struct {
		query string
		want  []string
	}{
		{"SELECT experiment_id, experiment FROM experiments ORDER BY ALL", []string{
			"00000000000000aa monday/test.1.er", "00000000000000bb tuesday/test.1.er"}},
		{"SELECT started FROM experiments WHERE " + first, []string{"2026-01-02 03:04:05 +0000 UTC"}},
		{"SELECT function, load_object, module, address, kind, exclusive // 1e6, inclusive // 1e6 FROM function_metrics WHERE mode = 'user' AND " + first + " ORDER BY inclusive DESC, function", []string{
			"<Total> <Total> (unknown) 0 artificial 80 80", "main app a.c 4096 normal 0 70", "f app a.c 4160 normal 20 50",
			"g app b.c 8192 normal 40 40", "<Unknown> <Unknown> (unknown) 0 unknown 10 10"}},
		{"SELECT mode, exclusive // 1e6 FROM function_metrics WHERE function = 'f' AND " + first + " ORDER BY ALL", []string{
			"expert 0", "machine 0", "user 20"}},
		{"SELECT function, load_object, kind, exclusive // 1e6, inclusive // 1e6 FROM inline_function_metrics WHERE mode = 'user' AND " + first + " ORDER BY inclusive DESC, function", []string{
			"<Total> <Total> artificial 80 80", "main app normal 0 70", "g app normal 60 60", "f app normal 0 50", "h app inlined 0 50",
			"<Unknown> <Unknown> unknown 10 10"}},
		{"SELECT function, exclusive // 1e6, inclusive // 1e6 FROM inline_function_metrics WHERE mode = 'machine' AND exclusive + inclusive > 0 AND " + first + " ORDER BY ALL", []string{
			"<Total> 80 80", "<Unknown> 10 10", "f 0 50", "f._omp_fn.0 20 20", "g 40 60", "h 0 50", "main 0 70"}},
		{"SELECT relation, other, attributed // 1e6 FROM inline_callers_callees WHERE function = 'g' AND mode = 'user' ORDER BY ALL", []string{
			"callee g 0", "caller g 30", "caller h 20", "caller main 10", "self g 60"}},
		{"SELECT depth, function, attributed // 1e6, exclusive // 1e6 FROM inline_call_tree WHERE mode = 'user' AND " + first + " ORDER BY depth, function", []string{
			"0 <Total> 80 10", "1 main 70 0", "2 <Unknown> 10 10", "2 f 50 0", "2 g 10 10", "3 h 50 0", "4 g 50 20", "5 g 30 30"}},
		{"SELECT file, line, function, exclusive // 1e6, inclusive // 1e6 FROM inline_line_metrics WHERE mode = 'user' AND " + first + " ORDER BY ALL", []string{
			" 0 <Unknown> 10 10", "a.c 10 main 0 70", "a.c 20 f 0 50", "a.h 5 h 0 50", "a.h 7 g 20 50", "b.c 30 g 40 40"}},
		{"SELECT load_object, code_offset, function, file, line, exclusive // 1e6 FROM inline_pc_metrics WHERE mode = 'user' AND " + first + " ORDER BY ALL", []string{
			"<Unknown> 2457 <Unknown>  0 10", "app 4112 main a.c 10 0", "app 4176 g a.h 7 20", "app 8208 g b.c 30 40"}},
		{"SELECT relation, other, attributed // 1e6 FROM callers_callees WHERE function = 'f' AND mode = 'machine' ORDER BY ALL", []string{
			"callee f._omp_fn.0 20", "callee g 30", "caller main 50"}},
		{"SELECT depth, function, attributed // 1e6, exclusive // 1e6 FROM call_tree WHERE mode = 'user' AND " + first + " ORDER BY depth, function", []string{
			"0 <Total> 80 10", "1 main 70 0", "2 <Unknown> 10 10", "2 f 50 20", "2 g 10 10", "3 g 30 30"}},
		{"SELECT file, line, function, exclusive // 1e6 FROM line_metrics WHERE mode = 'expert' AND " + first + " ORDER BY ALL", []string{
			" 0 <Unknown> 10", " 0 f._omp_fn.0 20", "a.c 10 main 0", "a.c 20 f 0", "b.c 30 g 40"}},
		{"SELECT load_object, code_offset, function, file, line, exclusive // 1e6 FROM pc_metrics WHERE mode = 'user' AND " + first + " ORDER BY ALL", []string{
			"<Unknown> 2457 <Unknown>  0 10", "app 4112 main a.c 10 0", "app 4176 f a.c 20 20", "app 8208 g b.c 30 40"}},
		{"SELECT load_object, exclusive // 1e6, inclusive // 1e6 FROM load_object_metrics WHERE mode = 'user' AND " + first + " ORDER BY ALL", []string{
			"<Unknown> 10 10", "app 60 70"}},
		{"SELECT load_object, module, exclusive // 1e6 FROM module_metrics WHERE mode = 'user' AND " + first + " ORDER BY ALL", []string{
			"<Unknown> (unknown) 10", "app a.c 20", "app b.c 40"}},
		{"SELECT mode, thread_id, value // 1e6 FROM thread_metrics WHERE " + first + " ORDER BY ALL", []string{
			"expert 4711 50", "expert 4712 30", "machine 4711 50", "machine 4712 30", "user 4711 50", "user 4712 30"}},
		{"SELECT cpu, value // 1e6 FROM cpu_metrics WHERE mode = 'user' AND " + first + " ORDER BY ALL", []string{"0 50", "1 30"}},
		{"SELECT pid, metric, value FROM process_metrics WHERE mode = 'user' AND unit <> 'ns' ORDER BY ALL", []string{
			"4811 heapallocbytes 150", "4811 heapalloccnt 2", "4811 heapleakbytes 50", "4811 heapleakcnt 1"}},
		{"SELECT t0_ns, t1_ns, thread_id, value // 1e6 FROM timeline WHERE mode = 'user' AND " + first + " ORDER BY ALL", []string{
			"0 1000000000 4711 30", "0 1000000000 4712 10", "1000000000 2000000000 4711 20", "1000000000 2000000000 4712 20"}},
		{"SELECT t0_ns // 1e6, sum(value) // 1e6 FROM timeline_by(25_000_000) WHERE mode = 'user' AND " + first + " GROUP BY ALL ORDER BY ALL", []string{
			"0 20", "25 20", "1050 30", "1075 10"}},
		{"SELECT t0_ns // 1e9, cpu, value // 1e6 FROM cpu_timeline WHERE mode = 'user' AND " + first + " ORDER BY ALL", []string{"0 0 30", "0 1 10", "1 0 20", "1 1 20"}},
		{"SELECT t0_ns // 1e6, cpu, value // 1e6 FROM cpu_timeline_by(25_000_000) WHERE mode = 'user' AND " + first + " ORDER BY ALL", []string{
			"0 0 20", "25 0 10", "25 1 10", "1050 0 10", "1050 1 20", "1075 0 10"}},
		{"SELECT mode, t0_ns // 1e6, t1_ns // 1e6, value // 1e6 FROM interval_metrics(25_000_000) WHERE mode <> 'expert' AND " + first + " ORDER BY ALL", []string{
			"machine 0 25 20", "machine 25 50 20", "machine 1050 1075 30", "machine 1075 1100 10", "user 0 25 20", "user 25 50 20", "user 1050 1075 30", "user 1075 1100 10"}},
		{"SELECT mode, reason, load_object, samples, value // 1e6 FROM unattributed WHERE mode <> 'expert' ORDER BY ALL", []string{
			"machine PC in no load object <Unknown> 1 10", "machine no call stack recorded  1 10",
			"user PC in no load object <Unknown> 1 10", "user no call stack recorded  1 10"}},
		{"SELECT metric, sample, value FROM sample_metrics WHERE experiment_id = '00000000000000bb' ORDER BY ALL", []string{
			"heapallocbytes 1 100", "heapallocbytes 2 50", "heapalloccnt 1 1", "heapalloccnt 2 1", "heapleakbytes 2 50", "heapleakcnt 2 1"}},
		{"SELECT metric, count(*), sum(value) // 1e6 FROM sample_metrics WHERE experiment_id = '00000000000000aa' GROUP BY ALL", []string{"totalcpu 8 80"}},
		{"SELECT raw_stack_id, user_stack_id = expert_stack_id, expert_stack_id = machine_stack_id, machine_stack_id = 0, reason FROM raw_stacks WHERE experiment_id = '00000000000000aa' ORDER BY raw_stack_id LIMIT 2", []string{
			"81 true true true no call stack recorded", "84 false true false "}},
		{"SELECT depth, leaf_location_id, leaf_function_id FROM stacks WHERE experiment_id = '00000000000000aa' ORDER BY ALL", []string{
			"0 <nil> <nil>", "2 104 4", "2 112 12", "2 113 13", "3 113 13", "3 114 14"}},
		{"SELECT leaf_location_id, position, location_id, function_id, rule FROM frames JOIN stacks USING (experiment_id, stack_id) WHERE leaf_location_id IN (104, 112, 114) ORDER BY ALL", []string{
			"104 0 104 4 ", "104 1 111 11 ", "112 0 112 12 ", "112 1 111 11 ", "114 0 114 14 ", "114 1 112 12 ", "114 2 111 11 "}},
		{"SELECT raw_stack_id, part, position, word, location_id FROM raw_frames WHERE word IN (999, 4240) ORDER BY ALL", []string{
			"84 native 0 4240 114", "86 native 0 999 104"}},
		{"SELECT node, parent, last, depth, function, load_object, location_id, exclusive // 1e6, inclusive // 1e6 FROM stack_nodes WHERE mode = 'user' AND metric = 'totalcpu' ORDER BY node", []string{
			"0 <nil> 6 0 <Total> <Total> <nil> 10 80", "1 0 6 1 main app 111 0 70", "2 1 4 2 f app 112 20 50", "3 2 3 3 g app 113 30 30",
			"5 1 5 2 g app 113 10 10", "6 1 6 2 <Unknown> <Unknown> 104 10 10"}},
		{"SELECT node, parent, function, exclusive // 1e6, inclusive // 1e6 FROM stack_nodes WHERE mode = 'machine' AND node IN (2, 4) ORDER BY node", []string{
			"2 1 f 0 50", "4 2 f._omp_fn.0 20 20"}},
		{"SELECT stack, value // 1e6, samples FROM folded WHERE mode = 'user' AND metric = 'totalcpu' ORDER BY stack", []string{
			"<Total> 10 1", "main;<Unknown> 10 1", "main;f 20 2", "main;f;g 30 3", "main;g 10 1"}},
		{"SELECT stack, value // 1e6, samples FROM inline_folded WHERE mode = 'user' AND metric = 'totalcpu' ORDER BY stack", []string{
			"<Total> 10 1", "main;<Unknown> 10 1", "main;f;h;g 20 2", "main;f;h;g;g 30 3", "main;g 10 1"}},
		{"SELECT leaf_location_id, depth, value // 1e6, samples FROM stack_metrics JOIN stacks USING (experiment_id, stack_id) WHERE mode = 'machine' AND " + first + " ORDER BY ALL", []string{
			"104 2 10 1", "113 2 10 1", "113 3 30 3", "114 3 20 2", "<nil> 0 10 1"}},
	} {
		if diff := cmp.Diff(test.want, rows(t, db.DB, test.query)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.query, diff)
		}
	}
}

// TestBrokenSums breaks one number at a time, and looks for the broken sum.
func TestBrokenSums(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"  1 totalcpu 3 20ms 50ms\n", "  1 totalcpu 3 21ms 50ms\n", "functions"},
		{"  1 totalcpu 3 20ms 50ms\n", "  1 totalcpu 3 20ms 51ms\n", "callers of f, self and callees of f"},
		{"  7 totalcpu 0 80ms 80ms\n", "", "call tree, functions, instructions, lines, load objects, modules, samples, stacks, threads, CPUs and time"},
		{"  7 totalcpu 4 b.c 30 40ms 40ms\n", "", "lines"},
		{"  7 totalcpu 0 10ms 10ms\n", "  7 totalcpu 0 9ms 10ms\n", "instructions"},
		{"  7 totalcpu 803 20ms 70ms\n", "  7 totalcpu 803 30ms 70ms\n", "modules"},
		{"  7 totalcpu 903 60ms 70ms\n", "  7 totalcpu 903 61ms 70ms\n", "load objects"},
		{"  1 4712 1 1 totalcpu 20ms 2\n", "", "threads, CPUs and time"},
		{"  7 10 10ms -1\n", "  7 11 10ms -1\n", "samples"},
		{"  7 totalcpu 3 30ms 30ms\n", "  7 totalcpu 3 29ms 30ms\n", "call tree node of f, call tree node of g"},
		{"  7 totalcpu 4 caller 3 30ms\n", "  7 totalcpu 4 caller 3 31ms\n", "callers of g"},
		{"  1 totalcpu 3 self 3 20ms\n", "", "self and callees of f"},
		{"0 PC~in~no~load~object\n", "0 ''\n", "unattributed"},
		{"  3 1 6 0 ''\n", "  3 1 6 6 no~call~stack~recorded\n", "functions, instructions, lines, load objects, modules, stacks that a rule emptied, unattributed"},
	} {
		if strings.Count(storetest.Two, test.old) != 1 {
			t.Fatalf("%q is not once in the store", test.old)
		}
		db := open(t, storetest.New(t, strings.Replace(storetest.Two, test.old, test.new, 1)))
		got := rows(t, db.DB, "SELECT string_agg(DISTINCT what, ', ' ORDER BY what) FROM conservation")
		if diff := cmp.Diff([]string{test.want}, got); diff != "" {
			t.Errorf("with %q as %q: (-want +got)\n%s", test.old, test.new, diff)
		}
	}
}
