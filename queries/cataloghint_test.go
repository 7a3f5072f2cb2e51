package queries

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// A store whose catalog is known opens without parsing the commits, and shows the same rows.
func TestOpenByHint(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	rewrite(t, store, "00000000000000bb", func(c *storedir.Commit) { c.Experiments[0].Labels = map[string]string{"night": "7"} })
	seen := func(known bool, only ...string) []string {
		t.Helper()
		db, err := OpenWith(t.Context(), store, Options{Only: only})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if is := db.commits.parsed == nil; is != known {
			t.Errorf("%q: opened by the catalog: %v", only, is)
		}
		shown := rows(t, db.DB, "SELECT experiment, path, status, ingested FROM experiments ORDER BY ALL")
		shown = append(shown, rows(t, db.DB, "SELECT experiment_id, label, value FROM labels ORDER BY ALL")...)
		shown = append(shown, rows(t, db.DB, "SELECT count(*), sum(exclusive) FROM function_metrics")...)
		shown = append(shown, rows(t, db.DB, "SELECT count(*), sum(exclusive) FROM function_totals")...)
		if db.Count != len(db.Experiments()) || (db.Count == 1) != (db.Single == db.Experiments()[0].Name) {
			t.Errorf("%q: %d experiments, %q; listed are %v", only, db.Count, db.Single, db.Experiments())
		}
		return shown
	}
	hint := filepath.Join(store, StateFile)
	name := open(t, store).Experiments()[1].Name
	for _, only := range [][]string{nil, {name}, {"00000000000000bb", "00000000000000aa"}} {
		if err := os.Remove(hint); err != nil {
			t.Fatal(err)
		}
		want := seen(false, only...)
		if diff := cmp.Diff(want, seen(true, only...)); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", only, diff)
		}
	}
	seen(false, "night=7")
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(store)); err != nil {
		t.Fatal(err)
	}
	store = copied
	seen(false)
	seen(true)
	rewrite(t, store, "00000000000000bb", func(c *storedir.Commit) { c.Experiments[0].Path = "/elsewhere" })
	seen(false)
	if err := os.WriteFile(filepath.Join(store, CatalogFile), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	seen(false)
}
