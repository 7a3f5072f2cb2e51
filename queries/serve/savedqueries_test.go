package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// The queries in the server's folder are listed as they are now; what cannot be a query is left out with a warning.
func TestSavedQueries(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("b.sql", "\n-- A comment.\nSELECT 'größe'\n")
	write("notes.txt", "no query")
	write(".hidden.sql", "SELECT 2")
	write("binary.sql", "\xff\xfe")
	write("long.sql", strings.Repeat("-", maxSavedQuery+1))
	if err := os.Mkdir(filepath.Join(folder, "folder.sql"), 0o777); err != nil {
		t.Fatal(err)
	}
	s := start(t, storetest.New(t, storetest.Two), func(o *Options) { o.Queries = folder })
	list := func() (found []savedQuery, warnings string) {
		t.Helper()
		response, text := s.ask("GET", "/api/v1/queries", "")
		if err := json.Unmarshal(text, &found); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return found, response.Header.Get(warningName)
	}
	found, warnings := list()
	if want := []savedQuery{{"b", "-- A comment.\nSELECT 'größe'"}}; !slices.Equal(found, want) {
		t.Errorf("the queries are %q", found)
	}
	if !strings.Contains(warnings, "binary is left out: it is not text") || !strings.Contains(warnings, "long is left out: it has more than") {
		t.Errorf("the warnings are %s", warnings)
	}
	write("a.sql", "SELECT 1")
	if found, _ := list(); len(found) != 2 || found[0].Name != "a" {
		t.Errorf("after a file was added: %q", found)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if response, text := s.ask("GET", "/api/v1/queries", ""); response.StatusCode != 500 || !strings.Contains(string(text), "read the saved queries: ") {
		t.Errorf("without the folder: %s %s", response.Status, text)
	}
	if text := start(t, s.Store, nil).get("/api/v1/queries"); text != "[]" {
		t.Errorf("without the option: %q", text)
	}
}

// An error about SQL has the line that is wrong.
func TestErrorLine(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	for text, want := range map[string]int{"SELECT 1,\n  nonsense\nFROM experiments": 2, "SELECT\n\nFROM FROM experiments": 3, "SELECT 1 / 'a'": 1, "": 0} {
		status, body := s.sql(text)
		var answer struct{ Line int }
		if err := json.Unmarshal([]byte(body), &answer); err != nil || status != 400 || answer.Line != want {
			t.Errorf("%q: %d %s (%v)", text, status, body, err)
		}
	}
}
