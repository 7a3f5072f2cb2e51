package queries

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
	"stackmill/schema"
)

// answersOf returns the rows of each table of a store and of some views, and the views' rows for a
// selector.
func answersOf(t *testing.T, store string) map[string]string {
	t.Helper()
	all := map[string]string{}
	ask := func(db *DB, name string) string {
		return rows(t, db.DB, fmt.Sprintf("SELECT count(*), bit_xor(hash(v)) FROM %s v", name))[0]
	}
	db := open(t, store)
	for _, table := range schema.Tables {
		all[table.Name] = ask(db, table.Name)
	}
	for _, view := range []string{"function_metrics", "call_tree", "disasm", "source"} {
		all[view] = ask(db, view)
	}
	part, err := OpenWith(t.Context(), store, Options{Only: []string{db.Experiments()[0].Name}})
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	all["part"] = ask(part, "function_metrics")
	return all
}

// columnFolders returns folders whose names are those of columns, with values: each column of each
// table once, in paths that the system can still open.
func columnFolders() (folders []string) {
	names := map[string]bool{}
	for _, table := range schema.Tables {
		for _, c := range table.Columns {
			names[c.Name] = true
		}
	}
	folder := ""
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if folder = filepath.Join(folder, name+"=7"); len(folder) > 2000 {
			folders, folder = append(folders, folder), ""
		}
	}
	return append(folders, folder)
}

// TestFolders compares the answers of stores in folders with odd names with those in a plain one.
// The SQL engine takes KEY=VALUE for a column, and some characters for patterns or ends of texts.
func TestFolders(t *testing.T) {
	odd := filepath.Join("night=2026-11-28", "it's [a] *store*?", `"quoted"`, "  blanks\tand\nlines ", "Größe 日本 🂡", `100%;--{}$(x)|&<>~#,`, "s3:", "a=b=c", "=", "x.parquet")
	for _, test := range []struct {
		text    string
		folders []string
	}{
		{storetest.Two, append(columnFolders(), odd, `back\slash`)},
		{sharing + again + other, []string{"listed_in=7/filename=8/experiment_id=9"}},
	} {
		plain := storetest.New(t, test.text)
		want := answersOf(t, plain)
		for _, folder := range test.folders {
			store := filepath.Join(t.TempDir(), folder, "store")
			if err := os.CopyFS(store, os.DirFS(plain)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, answersOf(t, store)); diff != "" {
				t.Errorf("in %.60q: (-plain +there)\n%.2000s", folder, diff)
			}
		}
	}
}

// Stores are found by links and relative paths, and filters read the same below other folders.
func TestWaysToStores(t *testing.T) {
	plain := storetest.New(t, storetest.Two)
	dir := filepath.Join(t.TempDir(), "value=7", "[x]")
	store, link := filepath.Join(dir, "store"), filepath.Join(t.TempDir(), "thread_id=1")
	if err := errors.Join(os.CopyFS(store, os.DirFS(plain)), os.Symlink(store, link)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	ask := func(store string) string {
		db, err := open(t, store).Filter(t.Context(), Filter{Where: []string{"thread_id > 0"}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		return rows(t, db.DB, "SELECT count(*), bit_xor(hash(v)) FROM function_metrics v")[0]
	}
	want := ask(plain)
	for _, way := range []string{store, link, "store", "../[x]/./store/"} {
		if got := ask(way); got != want {
			t.Errorf("%s: %s, not %s", way, got, want)
		}
	}
	proof, err := Check(t.Context(), link, CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range proof.Wrong {
		t.Error(w)
	}
}

// A check finds that the SQL engine reads other values than the files have.
func TestCheckReadsByEngine(t *testing.T) {
	was := fixedOptions
	defer func() { fixedOptions = was }()
	fixedOptions = nil
	for folder, want := range map[string]string{
		"exclusive=3":      "has values of exclusive from 3 to 3 for the SQL engine",
		"night=2026-11-28": "night for the SQL engine",
	} {
		store := filepath.Join(t.TempDir(), folder, "store")
		if err := storetest.Build(store, storetest.Two); err != nil {
			t.Fatal(err)
		}
		proof, err := Check(t.Context(), store, CheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(proof.Wrong, func(f Finding) bool { return strings.Contains(f.What, want) }) {
			t.Errorf("%s: %v", folder, proof.Wrong)
		}
	}
}

// Footers leave out bounds that are too long; a check takes these for unknown.
func TestCheckReadsLongValues(t *testing.T) {
	for _, first := range []string{"a", "z"} { // the least name, or the largest
		store := storetest.New(t, strings.ReplaceAll(storetest.Two, "main", first+strings.Repeat("x", 9000)))
		proof, err := Check(t.Context(), store, CheckOptions{})
		if err != nil || len(proof.Wrong) > 0 {
			t.Errorf("%s: %v, %.300v", first, err, proof.Wrong)
		}
	}
}
