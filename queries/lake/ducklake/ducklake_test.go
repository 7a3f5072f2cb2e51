package ducklake

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/lake"
)

// A catalog can be in a folder whose name looks like a part of a URL. If the SQL engine would write elsewhere,
// nothing is written.
func TestFolders(t *testing.T) {
	for _, name := range []string{"plain", "100%", "%41", "#", "it's", "new\nline", "tab\t", "a=b*[c]"} {
		above := t.TempDir()
		folder := filepath.Join(above, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := lake.Open(folder, lake.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Update(t.Context(), l, []lake.Table{{Name: "samples"}}); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		db, err := sql.Open("duckdb", "")
		if err != nil {
			t.Fatal(err)
		}
		var tables int
		err = db.QueryRowContext(t.Context(), "ATTACH "+queries.Quote(filepath.Join(folder, File))+" AS lake (READ_ONLY); SELECT count(*) FROM lake.ducklake_table").Scan(&tables)
		if err != nil || tables != 1 {
			t.Errorf("%q: %d tables, %v", name, tables, err)
		}
		db.Close()
		if entries, err := os.ReadDir(above); err != nil || len(entries) != 1 {
			t.Errorf("%q: beside it: %v, %v", name, entries, err)
		}
	}
	above := t.TempDir()
	l, err := lake.Open(filepath.Join(above, "x?access_mode=automatic&y"), lake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Update(t.Context(), l, []lake.Table{{Name: "samples"}}); err == nil || !strings.Contains(err.Error(), "rename it") {
		t.Error(err)
	}
	if entries, err := os.ReadDir(above); err != nil || len(entries) != 1 {
		t.Errorf("beside it: %v, %v", entries, err)
	}
}
