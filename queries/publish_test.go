package queries

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// A catalog that is up to date stays. One that is missing, stale, damaged or moved is rebuilt.
func TestRefresh(t *testing.T) {
	if err := Refresh(t.TempDir()); !errors.Is(err, storedir.ErrNoStore) {
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
			if err := Refresh(store); err != nil {
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
		db, _, err := readCatalog(t.Context(), store, engineConfig{}, nil)
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

// Other programs read the catalog, by itself or under a name of theirs.
func TestOtherPrograms(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	if err := Publish(store); err != nil {
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

// A check finds a catalog that has the store's fingerprint but reads other files.
func TestCheckFindsOtherFiles(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	look, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	for _, elsewhere := range []string{"", "/elsewhere"} {
		d := define(store, look.Batches, experimentsOf(look.Batches), columnForm{})
		d.store += elsewhere
		path := filepath.Join(t.TempDir(), CatalogFile)
		if err := errors.Join(writeCatalog(path, d), storedir.ReplaceFile(path, filepath.Join(store, CatalogFile))); err != nil {
			t.Fatal(err)
		}
		var p CheckReport
		if err := p.checkCatalog(t.Context(), store, look.Batches, true); err != nil || (len(p.Wrong) > 0) != (elsewhere != "") {
			t.Errorf("%q: %v %v", elsewhere, p.Wrong, err)
		}
	}
}

// A catalog made from the template has the same definitions as one made by statements alone.
func TestMadeFromTemplate(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	if err := Publish(store); err != nil {
		t.Fatal(err)
	}
	look, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	d := define(store, look.Batches, experimentsOf(look.Batches), columnForm{})
	attach := "ATTACH " + quote(filepath.Join(t.TempDir(), CatalogFile)) + " AS " + catalogName
	engine, err := connect(engineConfig{}, []string{attach}, useCatalog(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.make(t.Context(), engine), engine.Close()); err != nil {
		t.Fatal(err)
	}
	made, err := connect(engineConfig{}, []string{attach}, useCatalog(nil)) // a file does not keep all that memory does
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	written, found, err := readCatalog(t.Context(), store, engineConfig{}, nil)
	if err != nil || found != d.fingerprint {
		t.Fatal(found, err)
	}
	defer written.Close()
	want, err := catalogContent(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	got, err := catalogContent(t.Context(), written)
	if err != nil {
		t.Fatal(err)
	}
	delete(got, "table "+fingerprintTable)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
