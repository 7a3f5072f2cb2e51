package pipeline

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/acceptance/corpus"
	"stackmill/schema"
	"stackmill/storedir"
)

// rowsOf returns the rows of every table of each experiment of a store, by experiment and
// table, in their order.
func rowsOf(t *testing.T, store string, but ...string) map[string]map[string][]string {
	t.Helper()
	look, err := storedir.Look(store)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string][]string{}
	for i := range look.Batches {
		b := &look.Batches[i]
		s := newShelf(store, b)
		defer s.close()
		for e := range b.Visible {
			all[e.ExperimentID] = map[string][]string{}
			for _, table := range schema.Tables {
				all[e.ExperimentID][table.Name] = rowsOfTable(t, s, e.ExperimentID, table, but)
			}
		}
	}
	return all
}

func rowsOfTable(t *testing.T, s *shelf, id string, table *schema.Table, but []string) (rows []string) {
	t.Helper()
	if table.Links != nil {
		return rowsOfLists(t, s, id, table, but)
	}
	var columns []string
	for _, c := range table.Columns[1:] {
		if c.Name == schema.ListedIn { // this and what follows depend on the rest of the batch
			break
		}
		if !slices.Contains(but, table.Name+"."+c.Name) {
			columns = append(columns, c.Name)
		}
	}
	err := eachOf(s.tables(id), table, func(b schema.Events) {
		for i := range int(b.NumRows()) {
			var row []string
			for _, c := range columns {
				row = append(row, c+"="+b.Column(c).ValueStr(i))
			}
			rows = append(rows, strings.Join(row, " "))
		}
	}, columns...)
	if err != nil {
		t.Fatal(table.Name, err)
	}
	return rows
}

// rowsOfLists returns the rows of a table that the experiments of a batch share.
func rowsOfLists(t *testing.T, s *shelf, id string, table *schema.Table, but []string) (rows []string) {
	t.Helper()
	owners := map[string][]string{}
	var in string
	var own, columns []string
	for _, c := range table.Owner()[1:] {
		own = append(own, c.Name)
	}
	for _, c := range table.Shown()[len(own)+1:] {
		if !slices.Contains(but, table.Name+"."+c.Name) {
			columns = append(columns, c.Name)
		}
	}
	text := func(b schema.Events, i int, columns []string) string {
		var row []string
		for _, c := range columns {
			row = append(row, c+"="+b.Column(c).ValueStr(i))
		}
		return strings.Join(row, " ")
	}
	err := eachOf(s.tables(id), table.Links, func(b schema.Events) {
		for i := range int(b.NumRows()) {
			in = b.Column(schema.ListedIn).ValueStr(i)
			n := b.Column("listing").ValueStr(i)
			owners[n] = append(owners[n], text(b, i, own))
		}
	}, append(own, schema.ListedIn, "listing")...)
	if err == nil {
		err = eachOf(s.tables(in), table, func(b schema.Events) {
			for i := range int(b.NumRows()) {
				for _, o := range owners[b.Column("listing").ValueStr(i)] {
					rows = append(rows, o+" "+text(b, i, columns))
				}
			}
		}, append(columns, "listing")...)
	}
	if err != nil {
		t.Fatal(table.Name, err)
	}
	slices.Sort(rows)
	return rows
}

// sameRows compares what rowsOf returns.
func sameRows(t *testing.T, want, got map[string]map[string][]string) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%d experiments, want %d", len(got), len(want))
	}
	for id, tables := range want {
		for name, rows := range tables {
			if d := cmp.Diff(rows, got[id][name]); d != "" {
				t.Errorf("%s %s: %s", id, name, first(d, 1500))
			}
		}
	}
}

func first(s string, n int) string { return s[:min(n, len(s))] }

// With the same symbols the same rows are made of what a store has of recordings as of
// the recordings themselves.
func sameWhenRedone(t *testing.T, o Options) {
	t.Helper()
	redoUnchanged = true
	defer func() { redoUnchanged = false }()
	want := rowsOf(t, o.Store)
	results, err := Resymbolize(t.Context(), o, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil || r.Status == Unchanged {
			t.Errorf("%s: %s %v", r.Path, r.Status, r.Err)
		}
	}
	sameRows(t, want, rowsOf(t, o.Store))
	look, err := storedir.Look(o.Store)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range look.Batches {
		for e := range b.Visible {
			if want := e.Status != Failed; (e.Generation == 2) != want {
				t.Errorf("%s has generation %d", e.Path, e.Generation)
			}
		}
	}
}

// What is derived of accesses to memory is the same as well.
func TestResymbolizeData(t *testing.T) {
	data := t.TempDir()
	if err := corpus.Data(data); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Store: filepath.Join(t.TempDir(), "store"), Cache: filepath.Join(data, "cache"), SymFS: filepath.Join(data, "symfs"),
		DebugDirs: []string{}, Jobs: 2, Recursive: true,
	}
	if _, err := Ingest(t.Context(), o, data); err != nil {
		t.Fatal(err)
	}
	sameWhenRedone(t, o)
}
