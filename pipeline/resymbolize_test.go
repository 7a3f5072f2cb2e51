package pipeline

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/corpus"
	"stackmill/internal/testfiles"
	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/decode"
)

// rowsOf returns the rows of every table of each experiment of a store, by experiment and
// table, in their order.
func rowsOf(t *testing.T, store string, but ...string) map[string]map[string][]string {
	t.Helper()
	look, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string][]string{}
	for i := range look.Batches {
		b := &look.Batches[i]
		s := newBatchReader(store, b)
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

func rowsOfTable(t *testing.T, s *batchReader, id string, table *schema.Table, but []string) (rows []string) {
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
func rowsOfLists(t *testing.T, s *batchReader, id string, table *schema.Table, but []string) (rows []string) {
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

// With the same symbols, resymbolize makes the same rows from the store as ingest does from the
// recordings.
func sameWhenRedone(t *testing.T, o Options) {
	t.Helper()
	resymbolizeUnchanged = true
	defer func() { resymbolizeUnchanged = false }()
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
	look, err := storedir.ReadContents(o.Store)
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

// Data objects are the same, too.
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

// Symbols that are found later give the same result as symbols at the ingest, except for stacks
// recorded as dumps. A second run has nothing to do.
func TestResymbolizeFoundLater(t *testing.T) {
	dir := t.TempDir()
	if err := corpus.Symbols(dir); err != nil {
		t.Fatal(err)
	}
	recordings, symfs := []string{filepath.Join(dir, "exp"), filepath.Join(dir, "perf")}, filepath.Join(dir, "symfs")
	o := Options{Cache: filepath.Join(dir, "cache"), DebugDirs: []string{}, Jobs: 2, PerfMaps: filepath.Join(dir, "maps")}
	ingest := func(store, symfs string) map[string]map[string][]string {
		t.Helper()
		o.Store, o.SymFS = filepath.Join(t.TempDir(), store), symfs
		if _, err := Ingest(t.Context(), o, recordings...); err != nil {
			t.Fatal(err)
		}
		return rowsOf(t, o.Store)
	}
	want := ingest("at once", symfs)
	ingest("later", t.TempDir())
	o.SymFS = symfs
	for _, path := range recordings {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	results, err := Resymbolize(t.Context(), o, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	got := rowsOf(t, o.Store)
	done := 0
	for _, r := range results {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Path, r.Err)
		}
		if r.SymbolChanges.Unwound {
			delete(want, r.ID)
			delete(got, r.ID)
		} else if r.Status != Unchanged {
			done++
		}
	}
	if done < 10 {
		t.Errorf("%d experiments were done", done)
	}
	sameRows(t, want, got)
	results, err = Resymbolize(t.Context(), o, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Status != Unchanged || r.Err != nil {
			t.Errorf("%s again: %s, %v", r.Path, r.Status, r.Err)
		}
	}
}

// Symbol lists often disappear soon: their copies in the store replace them.
func TestResymbolizeWithoutLists(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(corpus.Symbols(filepath.Join(dir, "symbols")), corpus.Perf(filepath.Join(dir, "perf"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ of, recordings, list string }{
		{"symbols", "perf", "/tmp/perf-"},
		{"perf", "perf/p_*[ml].data", decode.KernelPath},
	} {
		of := filepath.Join(dir, c.of)
		o := Options{
			Store: filepath.Join(t.TempDir(), "store"), Cache: filepath.Join(dir, "cache"), SymFS: filepath.Join(of, "symfs"), DebugDirs: []string{}, Jobs: 2,
			PerfMaps: filepath.Join(of, "maps"), Kallsyms: filepath.Join(of, "kallsyms"),
		}
		if _, err := Ingest(t.Context(), o, testfiles.Glob(t, filepath.Join(of, c.recordings))...); err != nil {
			t.Fatal(err)
		}
		lists := 0
		for _, tables := range rowsOf(t, o.Store) {
			for _, row := range tables["load_objects"] {
				if strings.Contains(row, "path="+c.list) && strings.Contains(row, "symbols=path") {
					lists++
				}
			}
		}
		if lists == 0 {
			t.Errorf("%s: no lists", c.of)
		}
		o.PerfMaps, o.Kallsyms = "", ""
		sameWhenRedone(t, o)
	}
}

// A file that has replaced the one used at the ingest names nothing.
func TestResymbolizeReplaced(t *testing.T) {
	one := LoadObject{Path: "/p", ids: []int64{1}, found: 1, Functions: 5, Used: true}
	for _, c := range []struct {
		name         string
		before, now  LoadObject
		better, lost bool
	}{
		{"the same", one, one, false, false},
		{"found", LoadObject{Path: "/p", Used: true}, one, true, false},
		{"gone", one, LoadObject{Path: "/p"}, false, true},
		{"gone, of no use", LoadObject{Path: "/p", ids: []int64{1}, found: 1}, LoadObject{Path: "/p"}, false, false},
		{"more functions", one, LoadObject{Path: "/p", ids: []int64{1}, found: 1, Functions: 6}, true, false},
		{"fewer functions", one, LoadObject{Path: "/p", ids: []int64{1}, found: 1, Functions: 4}, false, true},
		{"fewer functions, with lines", one, LoadObject{Path: "/p", ids: []int64{1}, found: 1, lined: 1, Functions: 4}, true, false},
		{"another file", one, LoadObject{Path: "/p", ids: []int64{2}, found: 1, lined: 1, Functions: 9}, false, true},
		{"another list", LoadObject{Path: decode.KernelPath, ids: []int64{1}, found: 1, Used: true}, LoadObject{Path: decode.KernelPath, ids: []int64{2}, found: 1, Functions: 9}, true, false},
	} {
		before, now := newObjectSymbols(), newObjectSymbols()
		before.objects[objectKey{path: c.before.Path}] = &c.before
		now.objects[objectKey{path: c.now.Path}] = &c.now
		if better, lost := before.compare(now); better != c.better || len(lost) > 0 != c.lost {
			t.Errorf("%s: better %t, lost %v", c.name, better, lost)
		}
	}
}

// An experiment that is deleted or replaced during resymbolize does not come back; an interrupted one
// stays as it was.
func TestResymbolizeMeanwhile(t *testing.T) {
	shared(t, 1)
	resymbolizeUnchanged = true
	defer func() { resymbolizeUnchanged = false }()
	root := t.TempDir()
	o := Options{Store: filepath.Join(root, "store"), Jobs: 1, DebugDirs: []string{}}
	for i, name := range []string{"a.er", "b.er"} {
		recordOf(t, filepath.Join(root, name), "/no/such", 10+i, 1_700_000_000)
		if _, err := Ingest(t.Context(), o, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	want := rowsOf(t, o.Store)
	only := func(id string) func(*storedir.Entry) bool {
		return func(e *storedir.Entry) bool { return e.ExperimentID == id }
	}
	ids := slices.Sorted(maps.Keys(want))

	ctx, cancel := context.WithCancel(t.Context())
	o.begun = cancel
	results, err := Resymbolize(ctx, o, nil, false)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, r := range results {
		if r.Status != Aborted {
			t.Errorf("%s was interrupted: %s", r.Path, r.Status)
		}
	}
	sameRows(t, want, rowsOf(t, o.Store))
	nothingStaged(t, o.Store)

	o.begun = func() {
		look, err := storedir.ReadContents(o.Store)
		if err == nil {
			err = look.Delete(ids[:1], storedir.Forgotten, "")
		}
		if err != nil {
			t.Error(err)
		}
	}
	if results, err = Resymbolize(t.Context(), o, only(ids[0]), false); err != nil || len(results) != 1 || results[0].Err != nil {
		t.Errorf("%+v, %v", results, err)
	}
	delete(want, ids[0])
	sameRows(t, want, rowsOf(t, o.Store))

	o.begun = nil
	if results, err = Resymbolize(t.Context(), o, only(ids[0]), false); err != nil || len(results) != 0 {
		t.Errorf("what is forgotten: %+v, %v", results, err)
	}
	if results, err = Resymbolize(t.Context(), o, only(ids[1]), true); err != nil || results[0].Status != Complete && results[0].Status != Unclosed {
		t.Errorf("%+v, %v", results, err)
	}
	look, err := storedir.ReadContents(o.Store)
	if err != nil || look.Latest(ids[1]).Generation != 1 {
		t.Errorf("a dry run has changed something: %v", err)
	}
}
