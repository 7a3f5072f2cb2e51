package queries

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
	"stackmill/schema"
	"stackmill/storedir"
)

// A catalog that is that of the store's commits is left alone. It is made again when it
// is missing, old, damaged or moved.
func TestRefresh(t *testing.T) {
	cache := t.TempDir()
	if err := Refresh(t.Context(), t.TempDir(), cache, nil); !errors.Is(err, storedir.ErrNoStore) {
		t.Errorf("a directory without a store: %v", err)
	}
	parent := t.TempDir()
	store := filepath.Join(parent, "store")
	before, after, _ := strings.Cut(storetest.Two, "# The second")
	if err := storetest.Build(store, before); err != nil {
		t.Fatal(err)
	}
	catalog := func() string { return filepath.Join(store, CatalogFile) }
	expect := func(what string, anew bool, experiments string) {
		t.Helper()
		old, _ := os.Stat(catalog())
		for _, again := range []bool{false, true} {
			if err := Refresh(t.Context(), store, cache, nil); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(catalog())
			if err != nil {
				t.Fatal(err)
			}
			if made := !os.SameFile(old, info); made != (anew && !again) {
				t.Errorf("%s: the catalog was made: %v", what, made)
			}
			old = info
		}
		db, _, err := readCatalog(t.Context(), store, access{}, &sight{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if got := rows(t, db, "SELECT count(*) FROM experiments"); got[0] != experiments {
			t.Errorf("%s: %s experiments, want %s", what, got[0], experiments)
		}
	}
	expect("missing", true, "1")
	if err := storetest.Build(store, "#"+after); err != nil {
		t.Fatal(err)
	}
	expect("old", true, "2")
	expect("unchanged", false, "2")
	if err := os.WriteFile(catalog(), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect("damaged", true, "2")
	moved := filepath.Join(parent, "moved")
	if err := os.Rename(store, moved); err != nil {
		t.Fatal(err)
	}
	store = moved
	expect("moved", true, "2")
}

// A draft becomes the catalog if the commit that it expects is made. Whatever else
// happens, the catalog is that of the store's commits, and nothing else is left.
func TestDraft(t *testing.T) {
	cache := t.TempDir()
	before, after, _ := strings.Cut(storetest.Two, "# The second")
	second := storedir.Commit{Batch: "00000000000000bb"}
	for name, test := range map[string]struct {
		foresee, expect, commit, same bool
		drop                          bool
	}{
		"as expected":           {expect: true, commit: true, same: true},
		"expected and not made": {expect: true},
		"made without notice":   {commit: true},
		"nothing":               {},
		"dropped":               {expect: true, commit: true, same: true, drop: true},
		"foreseen":              {foresee: true, expect: true, commit: true, same: true},
		"foreseen and not made": {foresee: true},
		"only foreseen":         {foresee: true, commit: true},
	} {
		t.Run(name, func(t *testing.T) {
			store := storetest.New(t, before)
			draft, err := NewDraft(t.Context(), store, cache)
			if err != nil {
				t.Fatal(err)
			}
			made := storetest.New(t, storetest.Two)
			all, err := storedir.Commits(made)
			if err != nil || len(all) != 2 {
				t.Fatal(all, err)
			}
			second.Experiments, second.Files, second.Ingested = all[1].Experiments, nil, all[1].Ingested
			for _, f := range all[1].Files { // nothing else is known before the commit
				second.Files = append(second.Files, storedir.File{Table: f.Table, Path: f.Path})
			}
			if test.foresee { // a file that will not be there, and none of some that will be
				files := append(slices.Clone(second.Files[:2]), storedir.File{Table: schema.RaceSamples.Name, Path: "tables/race_samples/x.parquet"})
				if err := draft.Foresee(t.Context(), storedir.Commit{Batch: second.Batch, Files: files}); err != nil || !draft.catalog.begun {
					t.Fatal(err)
				}
			}
			if test.expect {
				if err := draft.Expect(t.Context(), second); err != nil {
					t.Fatal(err)
				}
			}
			if test.commit {
				if err := storetest.Build(store, "#"+after); err != nil {
					t.Fatal(err)
				}
			}
			if test.drop {
				draft.Drop()
			}
			file, _ := os.Stat(draft.path)
			if err := Refresh(t.Context(), store, cache, draft); err != nil {
				t.Fatal(err)
			}
			catalog, err := os.Stat(filepath.Join(store, CatalogFile))
			if err != nil {
				t.Fatal(err)
			}
			if used := os.SameFile(file, catalog); used != ((test.same || !test.expect) && !test.drop) {
				t.Errorf("the draft is the catalog: %v", used)
			}
			draft.Drop()
			if err := draft.Expect(t.Context(), second); err == nil {
				t.Error("a draft that was dropped can be completed")
			}
			if err := draft.Foresee(t.Context(), second); err != nil {
				t.Error("after its end:", err)
			}
			entries, err := os.ReadDir(store)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			if d := cmp.Diff([]string{"commits", CatalogFile, StateFile, "tables"}, names); d != "" {
				t.Error(d)
			}
			look, err := storedir.Look(store)
			if err != nil {
				t.Fatal(err)
			}
			var p Proof
			if err := p.checkCatalog(t.Context(), store, look.Batches, true); err != nil || len(p.Wrong)+len(p.Notes) > 0 {
				t.Error(p, err)
			}
		})
	}
}

// Other programs read the catalog, by itself or under a name of theirs.
func TestOtherPrograms(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	if err := Publish(t.Context(), store, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	catalog := filepath.Join(store, CatalogFile)
	for _, test := range []struct{ opened, setup, query string }{
		{catalog + "?access_mode=read_only", "SELECT 1", "SELECT count(*) FROM samples"},
		{"", "ATTACH " + quote(catalog) + " AS other (READ_ONLY)", "SELECT count(*) FROM other.samples"},
	} {
		db, err := sql.Open("duckdb", test.opened)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(test.setup); err != nil {
			t.Fatal(err)
		}
		if got := rows(t, db, test.query); got[0] != "11" {
			t.Errorf("%s: %s samples", test.query, got[0])
		}
	}
}

// The engine that has made a catalog is closed later, but keeps no other process from
// opening it.
func TestPublishedIsUnlocked(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	if err := Publish(t.Context(), store, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(store, CatalogFile))
	if err != nil {
		t.Fatal(err)
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skip("the system does not tell of locks: ", err)
	}
	if inode := fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino); strings.Contains(string(locks), inode) {
		t.Errorf("%s is locked:\n%s", CatalogFile, locks)
	}
}

// A draft may be begun before its store is there.
func TestDraftOfNewStore(t *testing.T) {
	store := filepath.Join(t.TempDir(), "new", "store")
	draft, err := NewDraft(t.Context(), store, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	draft.Drop()
	if left, err := os.ReadDir(store); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A catalog that has a store's fingerprint and reads other files is found.
func TestCheckFindsOtherFiles(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	look, err := storedir.Look(store)
	if err != nil {
		t.Fatal(err)
	}
	for _, elsewhere := range []string{"", "/elsewhere"} {
		d, err := define(store, look.Batches, experimentsOf(look.Batches))
		if err != nil {
			t.Fatal(err)
		}
		d.store += elsewhere
		path := filepath.Join(t.TempDir(), CatalogFile)
		if err := errors.Join(writeCatalog(t.Context(), path, d), storedir.Place(path, filepath.Join(store, CatalogFile))); err != nil {
			t.Fatal(err)
		}
		var p Proof
		if err := p.checkCatalog(t.Context(), store, look.Batches, true); err != nil || (len(p.Wrong) > 0) != (elsewhere != "") {
			t.Errorf("%q: %v %v", elsewhere, p.Wrong, err)
		}
	}
}
