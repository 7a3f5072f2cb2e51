package queries

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/queries/storetest"
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
		db, _, err := readCatalog(t.Context(), store, access{})
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
