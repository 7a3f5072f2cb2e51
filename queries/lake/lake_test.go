package lake

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"stackmill/queries"
	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// elsewhere is a store on S3, of which this machine has a complete copy.
type elsewhere struct{ storedir.Remote }

func (elsewhere) Pull() error                 { return nil }
func (elsewhere) Fetch([]storedir.File) error { return nil }
func (elsewhere) String() string              { return "s3://bucket/store" }

// tables returns the tables of a store that a lake would have, by name.
func tables(t *testing.T, l *Lake, store string) map[string]Table {
	t.Helper()
	db, err := queries.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := l.Tables(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]Table{}
	for _, table := range list {
		named[table.Name] = table
	}
	return named
}

func open(t *testing.T, folder string, o Options) *Lake {
	t.Helper()
	l, err := Open(folder, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// The location that readers get for a file is in this folder, in the location that the options name, or in the store.
func TestLocations(t *testing.T) {
	store, folder := storetest.New(t, storetest.Two), t.TempDir()
	check := func(l *Lake, own, copied string) {
		t.Helper()
		all := tables(t, l, store)
		for name, prefix := range map[string]string{"clock_samples": own + "/tables/clock_samples/", "experiments": copied + "/stackmill/experiments/data/"} {
			if f := all[name].Files; len(f) == 0 || slices.ContainsFunc(f, func(f File) bool { return !strings.HasPrefix(f.Path, prefix) }) {
				t.Errorf("%s: %v, want %s...", name, f, prefix)
			}
		}
	}
	l := open(t, folder, Options{})
	check(l, "file://"+store, "file://"+folder)
	l.Options = Options{Location: "s3://other/lake/", Store: "s3://other/store/"}
	check(l, "s3://other/store", "s3://other/lake")
	storedir.SetRemote(store, elsewhere{})
	l.Options = Options{}
	check(l, "s3://bucket/store", "file://"+folder)
}

// Tables report whether their files use delta encodings.
func TestDelta(t *testing.T) {
	all := tables(t, open(t, t.TempDir(), Options{}), storetest.New(t, storetest.Two))
	some := map[bool]int{}
	for name, table := range all {
		some[table.Delta]++
		for _, f := range table.Files {
			r, err := file.OpenParquetFile(f.Local, false)
			if err != nil {
				t.Fatal(err)
			}
			for g := range r.NumRowGroups() {
				for c := range r.MetaData().Schema.NumColumns() {
					chunk, err := r.MetaData().RowGroup(g).ColumnChunk(c)
					if err != nil {
						t.Fatal(err)
					}
					if slices.Contains(chunk.Encodings(), parquet.Encodings.DeltaBinaryPacked) && !table.Delta {
						t.Errorf("%s: %s has differences", name, f.Local)
					}
				}
			}
			r.Close()
		}
	}
	if some[true] == 0 || some[false] == 0 {
		t.Errorf("%v", some)
	}
}

// Files that are in no table any more are kept for the time in Options.Keep.
func TestRetire(t *testing.T) {
	store, folder := storetest.New(t, storetest.Two), t.TempDir()
	l := open(t, folder, Options{Keep: time.Hour, Program: "1"})
	before := tables(t, l, store)["experiments"].Files
	finish := func(want int) {
		t.Helper()
		if removed, err := l.Finish([]string{"x"}); removed != want || err != nil {
			t.Errorf("%d files removed, want %d: %v", removed, want, err)
		}
	}
	finish(0)
	l.Program = "2"
	after := tables(t, l, store)["experiments"].Files
	finish(0)
	finish(0)
	for _, f := range slices.Concat(before, after) {
		if _, err := os.Stat(f.Local); err != nil || before[0].Path == after[0].Path {
			t.Errorf("%v", err)
		}
	}
	l.Keep = 0
	time.Sleep(time.Millisecond)
	if removed, err := l.Finish(nil); removed == 0 || err != nil {
		t.Errorf("%d removed: %v", removed, err)
	}
	for _, f := range before {
		if _, err := os.Stat(f.Local); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", f.Local, err)
		}
	}
	for _, f := range after {
		if _, err := os.Stat(f.Local); err != nil {
			t.Error(err)
		}
	}
}

// A folder can be open in only one process at a time. A folder with other files is refused.
func TestOpen(t *testing.T) {
	folder := t.TempDir()
	open(t, folder, Options{})
	if _, err := Open(folder, Options{}); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Error(err)
	}
	others := t.TempDir()
	if err := os.WriteFile(filepath.Join(others, "mine"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(others, Options{}); err == nil || !strings.Contains(err.Error(), "choose an empty folder") {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "a\xff"), Options{}); err == nil || !strings.Contains(err.Error(), "not valid UTF-8") {
		t.Error(err)
	}
}
