package queries

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// namesAt returns the names of experiments at paths.
func namesAt(paths []string) (names []string) {
	var list []Experiment
	for i, p := range paths {
		list = append(list, Experiment{Entry: storedir.Entry{ExperimentID: fmt.Sprint(i), Experiment: filepath.Base(p), Path: p}})
	}
	nameUniquely(list)
	for _, e := range list {
		names = append(names, e.Name)
	}
	return names
}

func TestUniqueNames(t *testing.T) {
	for _, test := range []struct{ paths, want string }{
		{"/a/x.er /b/y.er", "x.er y.er"},
		{"/a/x.er /b/x.er /b/y.er", "a/x.er b/x.er y.er"},
		{"/1/a/x.er /2/a/x.er /b/x.er", "1/a/x.er 2/a/x.er b/x.er"},
		{"/a/x.er /a/x.er", "x.er@0 x.er@1"},
		{"/x.er /a/x.er", "x.er@0 a/x.er"},
	} {
		if got := strings.Join(namesAt(strings.Fields(test.paths)), " "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.paths, got, test.want)
		}
	}
}

// TestUniqueNamesOfAnyPaths draws few names, so that many collide.
func TestUniqueNamesOfAnyPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOf(rapid.StringMatching(`(/[ab]){0,3}/[xy]|[xy]|`)).Draw(t, "paths")
		seen := map[string]bool{}
		for i, n := range namesAt(paths) {
			base, _, _ := strings.Cut(filepath.Base(n), "@")
			if seen[n] || base != filepath.Base(paths[i]) {
				t.Fatalf("%q names %q", n, paths[i])
			}
			seen[n] = true
		}
	})
}

// rewrite changes a batch's commit, under another name or its own.
func rewrite(t *testing.T, store, batch string, change func(*storedir.Commit)) {
	t.Helper()
	c, err := storedir.ReadCommit(store, batch)
	if err != nil {
		t.Fatal(err)
	}
	change(&c)
	data, err := c.Encode()
	if err == nil {
		err = os.WriteFile(filepath.Join(store, "commits", c.Batch+".json"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Writers that do not know of each other may store an experiment twice: readers see it once.
func TestExperimentTwice(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	want := rows(t, open(t, store).DB, "SELECT sum(exclusive) FROM function_metrics")
	rewrite(t, store, "00000000000000aa", func(c *storedir.Commit) {
		c.Batch = "copy"
		for i := range c.Files {
			f := &c.Files[i]
			own := storedir.FilePath(f.Table, c.Batch)
			if err := os.Link(filepath.Join(store, f.Path), filepath.Join(store, own)); err != nil {
				t.Fatal(err)
			}
			f.Path = own
		}
	})
	db := open(t, store)
	if d := cmp.Diff(want, rows(t, db.DB, "SELECT sum(exclusive) FROM function_metrics")); d != "" {
		t.Error(d)
	}
	if got := db.Count; got != 2 {
		t.Errorf("%d experiments", got)
	}
}

// A commit that cannot be read hides its batch, not the store; an unreadable copy of another commit
// hides nothing.
func TestOpenWithDamagedCommits(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	at := func(batch string) string { return filepath.Join(store, "commits", batch+".json") }
	whole, err := os.ReadFile(at("00000000000000aa"))
	if err != nil {
		t.Fatal(err)
	}
	expect := func(experiments string, damaged ...string) {
		t.Helper()
		db := open(t, store)
		var found []string
		for _, u := range db.Unreadable {
			found = append(found, u.File)
		}
		if d := cmp.Diff(damaged, found); d != "" {
			t.Error(d)
		}
		if got := rows(t, db.DB, "SELECT count(*) FROM experiments"); got[0] != experiments {
			t.Errorf("%s experiments, want %s", got[0], experiments)
		}
	}
	if err := os.WriteFile(at("copy"), whole, 0o644); err != nil {
		t.Fatal(err)
	}
	expect("2")
	for _, content := range [][]byte{nil, whole[:100], []byte("{}")} {
		if err := errors.Join(os.RemoveAll(at("copy")), os.WriteFile(at("00000000000000aa"), content, 0o644)); err != nil {
			t.Fatal(err)
		}
		expect("1", "commits/00000000000000aa.json")
	}
}

// TestOpenSome opens one of two experiments of the same base name.
func TestOpenSome(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	db, err := OpenWith(context.Background(), store, Options{Only: []string{"tuesday/test.1.er"}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := rows(t, db.DB, "SELECT experiment, count(*) FROM function_metrics GROUP BY ALL"); len(got) != 1 || got[0] != "tuesday/test.1.er 24" {
		t.Errorf("got %q", got)
	}
	if got := rows(t, db.DB, "SELECT experiment, path FROM experiments JOIN experiment_names USING (experiment_id, experiment, path)"); len(got) != 1 || got[0] != "tuesday/test.1.er /data/tuesday/test.1.er" {
		t.Errorf("got %q", got)
	}
	if got := rows(t, db.DB, "SELECT count(path) FROM duckdb_databases() WHERE database_name = 'stackmill'"); got[0] != "1" {
		t.Error("the views were made again for a part of the store")
	}
	if got := rows(t, open(t, store).DB, "SELECT count(*) FROM experiments JOIN experiment_names USING (experiment_id)"); got[0] != "2" {
		t.Errorf("the store's catalog is that of a part: %q", got)
	}
}

func TestOpen(t *testing.T) {
	ctx := context.Background()
	if _, err := Open(ctx, t.TempDir()); !errors.Is(err, storedir.ErrNoStore) {
		t.Errorf("a directory without a store: %v", err)
	}

	// The catalog follows the commits, the place of the store and damage to itself.
	parent := t.TempDir()
	store := filepath.Join(parent, "it's [a] *store*")
	before, after, _ := strings.Cut(storetest.Two, "# The second")
	if err := storetest.Build(store, before); err != nil {
		t.Fatal(err)
	}
	count := func(want string) {
		t.Helper()
		db, err := Open(ctx, store)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if got := rows(t, db.DB, "SELECT count(*) FROM experiments JOIN function_metrics USING (experiment_id) WHERE function = 'main' AND mode = 'user'"); got[0] != want {
			t.Errorf("%s rows, want %s", got[0], want)
		}
	}
	catalog := func() string { return filepath.Join(store, CatalogFile) }
	count("1")
	info, err := os.Stat(catalog())
	if err != nil {
		t.Fatal(err)
	}
	count("1")
	if again, _ := os.Stat(catalog()); !os.SameFile(info, again) {
		t.Error("an unchanged store's catalog was rebuilt")
	}
	if err := storetest.Build(store, "#"+after); err != nil {
		t.Fatal(err)
	}
	count("5")
	moved := filepath.Join(parent, "moved")
	if err := os.Rename(store, moved); err != nil {
		t.Fatal(err)
	}
	store = moved
	count("5")
	if err := os.WriteFile(catalog(), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	count("5")
	if err := os.Remove(catalog()); err != nil {
		t.Fatal(err)
	}
	if err := Publish(store); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(store); len(entries) != 3 {
		t.Errorf("the store has %d entries, want commits, tables and the catalog", len(entries))
	}
}

// TestOpenPrivately opens a store whose catalog cannot be written.
func TestOpenPrivately(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	// A directory in the catalog's place stops even root.
	if err := os.MkdirAll(filepath.Join(store, CatalogFile, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	db, err := Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(t, db.DB, "SELECT count(*) FROM experiments"); got[0] != "2" {
		t.Errorf("got %s experiments", got[0])
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
}

func TestOpenRefusesOtherFormats(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	rewrite(t, store, "00000000000000aa", func(c *storedir.Commit) { c.StoreVersion = "999" })
	if _, err := Open(context.Background(), store); err == nil || !strings.Contains(err.Error(), `"999"`) {
		t.Errorf("got %v", err)
	}
	// Older versions have no checksum.
	older := []byte(`{"batch":"00000000000000aa","store_version":"4","experiment_id":"00000000000000aa"}`)
	if err := os.WriteFile(filepath.Join(store, "commits", "00000000000000aa.json"), older, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), store); err == nil || !strings.Contains(err.Error(), `"4"`) {
		t.Errorf("got %v", err)
	}
}

func TestReadersShareAndWritersPass(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	one, two := open(t, store), open(t, store)
	if err := Publish(store); err != nil {
		t.Fatal(err)
	}
	for _, db := range []*DB{one, two} {
		if got := rows(t, db.DB, "SELECT count(*) FROM samples"); got[0] != "11" {
			t.Errorf("got %s samples", got[0])
		}
		if _, err := db.Exec("CREATE TABLE stackmill.t (a INTEGER)"); err == nil {
			t.Error("the catalog can be written")
		}
	}
}

func TestCancel(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var n int64
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM range(10_000_000) a, range(10_000_000) b WHERE a.range + b.range = -1").Scan(&n)
	if err == nil {
		t.Error("a canceled query gave an answer")
	}
}

// The catalog is as readable as other files.
func TestPublishedMode(t *testing.T) {
	usual := filepath.Join(t.TempDir(), "usual")
	if err := os.WriteFile(usual, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	store := storetest.New(t, storetest.Two)
	if err := Publish(store); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(usual)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(filepath.Join(store, CatalogFile)); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, want %v (%v)", got.Mode(), want.Mode(), err)
	}
}
