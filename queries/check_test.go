package queries

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

func TestCheckPasses(t *testing.T) {
	p, err := Check(context.Background(), storetest.New(t, storetest.Two), CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range p.Wrong {
		t.Error(w)
	}
	if p.Batches != 2 || p.Files == 0 || p.Rows == 0 || p.Bytes == 0 || p.Invariants == 0 {
		t.Errorf("%+v proves nothing", p)
	}
}

func TestCheckFindsDamage(t *testing.T) {
	change := func(name string, f func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, store string) {
			path := filepath.Join(store, name)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	replace := func(old, new string) func([]byte) []byte {
		return func(data []byte) []byte {
			if !strings.Contains(string(data), old) {
				panic(old)
			}
			return []byte(strings.Replace(string(data), old, new, 1))
		}
	}
	const samples, commit = "tables/samples/00000000000000aa.parquet", "commits/00000000000000aa.json"
	for name, test := range map[string]struct {
		damage func(*testing.T, string)
		want   string // in the first finding
	}{
		"missing file": {func(t *testing.T, store string) { os.Remove(filepath.Join(store, samples)) }, samples + ": is missing"},
		"cut file":     {change(samples, func(b []byte) []byte { return b[:len(b)-1] }), samples + ": has"},
		"changed byte": {change(samples, func(b []byte) []byte { b[100] ^= 1; return b }), samples + ": has checksum"},
		"other table":  {change(commit, replace(`"table": "samples"`, `"table": "stack_tree"`)), samples + ": is not where files of table stack_tree"},
		"no table":     {change(commit, replace(`"table": "samples"`, `"table": "sampels"`)), "unknown table"},
		"outside":      {change(commit, replace(`"path": "tables/samples/`, `"path": "../tables/samples/`)), "is not where"},
		"other rows":   {change(commit, replace(`"rows": 8,`, `"rows": 9,`)), "has 8 rows, but 9 were committed"},
	} {
		t.Run(name, func(t *testing.T) {
			store := storetest.New(t, storetest.Two)
			test.damage(t, store)
			p, err := Check(context.Background(), store, CheckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Wrong) == 0 || !strings.Contains(p.Wrong[0].String(), test.want) {
				t.Errorf("got %v, want %q", p.Wrong, test.want)
			}
		})
	}
}

// wrongNumbers are changes of storetest.Two, and the invariants that they break.
var wrongNumbers = []struct{ old, new, want string }{
	{"  1 totalcpu 3 20ms 50ms\n", "  1 totalcpu 3 20ms 51ms\n", "function_metrics: does not hold: The values are the sums over the stacks"},
	{"  7 totalcpu 4 b.c 30 40ms 40ms\n", "  7 totalcpu 4 b.c 31 40ms 40ms\n", "line_metrics: does not hold"},
	{"  0 totalcpu 30ms 3\n", "  0 totalcpu 30ms 4\n", "stack_metrics: does not hold"},
	{"  1 1 4 2 ''\n", "  1 1 4 1 ''\n", "mode_leaves: does not hold: The mode shows the node of the leaf"},
	{"  1 1 4 2 ''\n", "  1 1 7 0 ''\n", "mode_leaves: does not hold: The node of every recorded stack is in the tree"},
	{"  2 1 2 2\n", "  2 1 1 2\n", "node_depths: does not hold: A node's `below`"},
	{"  6 5 0 5\n", "  6 4 0 5\n", "node_depths: does not hold: Nodes are numbered"},
	{"  5 native 999 0 0 '' 0 0\n", "  6 native 999 0 0 '' 0 0\n", "node_depths: does not hold: Every node's frame"},
	{"  9 8 0 2 4\n", "  9 7 0 2 4\n", "call_tree: does not hold: Nodes are numbered"},
	{"  10 9 0 2 1\n", "  10 9 0 2 99\n", "call_tree: does not hold: Every node's function exists"},
	{"  56 totalcpu 10 10ms 10ms\n", "  56 totalcpv 10 10ms 10ms\n", "call_tree: does not hold: Every node's function exists"},
	{"  56 totalcpu 10 10ms 10ms\n", "  56 totalcpu 10 10ms 10ms\n  8 totalcpu 10 0 0\n", "call_tree: does not hold: A node has one row"},
	{"  56 totalcpu 5 50ms 0\n", "  48 totalcpu 5 50ms 0\n", "call_tree: does not hold: If a node other than the root has a value"},
	{"  7 totalcpu 3 30ms 30ms\n  6 totalcpu 4 20ms 20ms\n", "  7 totalcpu 3 30ms 30ms\n  6 totalcpu 4 20ms 10ms\n", "call_tree: does not hold: A node's value"},
	{"  8 totalcpu 6 50ms 20ms\n", "  8 totalcpu 6 51ms 20ms\n", "call_tree: does not hold: A node's value"},
	{"  48 totalcpu 4 40ms 60ms\n", "  48 totalcpu 4 41ms 60ms\n", "call_tree: does not hold: A function's exclusive value"},
	{"  4 2 0 3 5\n", "  4 2 0 3 4\n", "call_paths: does not hold: No two"},
	{"  9 8 0 2 4\n", "  9 8 0 3 4\n", "call_paths: does not hold: The `parent_id` of every node but the root"},
	{"  7 clock 1 4712 1 1070ms 3\n", "  7 clock 1 4712 1 2070ms 3\n", "timeline: does not hold"},
	{"  4 114 903 5 4240", "  5 114 903 5 4240", "location_levels: does not hold: Instructions are numbered"},
	{"  3 113 903 4 8208 b.c 30 ''\n", "  3 113 903 4 8208 b.c 30 ''\n  5 113 903 4 8209 b.c 30 ''\n", "location_levels: does not hold: No two"},
}

// wrongStore returns a store with a change.
func wrongStore(t *testing.T, old, changed string) string {
	t.Helper()
	if strings.Count(storetest.Two, old) != 1 {
		t.Fatalf("%q is not once in the store", old)
	}
	return storetest.New(t, strings.Replace(storetest.Two, old, changed, 1))
}

func TestCheckFindsWrongNumbers(t *testing.T) {
	for _, test := range wrongNumbers[:2] {
		p, err := Check(t.Context(), wrongStore(t, test.old, test.new), CheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(p.Wrong, func(w Finding) bool { return strings.HasPrefix(w.String(), test.want) }) {
			t.Errorf("%q as %q: got %v, want %q", test.old, test.new, p.Wrong, test.want)
		}
	}
}

// Each wrong number is doubted by package verify, and then found by the invariants of one view
// alone.
func TestInvariantsFindWrongNumbers(t *testing.T) {
	for _, test := range wrongNumbers {
		view, _, _ := strings.Cut(test.want, ":")
		store := wrongStore(t, test.old, test.new)
		if doubts(t, store) == nil {
			t.Errorf("%q as %q is not doubted", test.old, test.new)
		}
		wrong := wrongBySQL(t, store, func(name string) bool { return name == view })
		if !slices.ContainsFunc(wrong, func(w Finding) bool { return strings.HasPrefix(w.String(), test.want) }) {
			t.Errorf("%q as %q: got %v, want %q", test.old, test.new, wrong, test.want)
		}
	}
}

func TestCheckedTogether(t *testing.T) {
	of := func(rows int64) storedir.Batch {
		return storedir.Batch{Commit: storedir.Commit{Files: []storedir.File{{Rows: rows}, {Rows: 1}}}}
	}
	for _, test := range []struct {
		name string
		rows []int64
		want []int
	}{
		{"nothing", nil, nil},
		{"small ones", []int64{1, 2, 3}, []int{3}},
		{"large ones", []int64{checkRows, checkRows}, []int{1, 1}},
		{"a large one after small ones", []int64{1, 1, checkRows, 1}, []int{3, 1}},
	} {
		var batches []storedir.Batch
		for _, n := range test.rows {
			batches = append(batches, of(n))
		}
		var got []int
		for _, part := range splitForCheck(batches) {
			got = append(got, len(part))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v together, want %v", test.name, got, test.want)
		}
	}
}
