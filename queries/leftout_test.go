package queries

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// Whatever part of a commit is unreadable, an open store says which experiments are missing, and
// each version of the commit gives another state. With the commit restored, it says nothing.
func TestUnreadable(t *testing.T) {
	store := storetest.New(t, `
batch 00000000000000aa one.er /one.er
experiments experiment
  one.er
with 00000000000000bb two.er /two.er
experiments experiment
  two.er
batch 00000000000000cc c.er /c.er
experiments experiment
  c.er
`)
	list, err := storedir.Commits(store)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	states := map[string]bool{}
	look := func(want string, only ...string) {
		t.Helper()
		db, err := OpenWith(t.Context(), store, Options{Only: only})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		remarks, err := db.Remarks(t.Context())
		if got := strings.Join(remarks, "\n"); err != nil || want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
		states[db.State] = true
	}
	look("")
	look("") // by the catalog
	path := filepath.Join(store, "commits", list[1].Batch+".json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const names = "left out: 2 experiments (one.er, two.er) of commits/"
	for what, data := range map[string]string{"a bit": strings.Replace(string(whole), `"samples": 0`, `"samples": 1`, 1), "its end": string(whole[:len(whole)/2]), "all of it": ""} {
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		before := len(states)
		look(names)
		if len(states) != before+1 {
			t.Errorf("%s is lost: the state is that of another version", what)
		}
		look(names, "c.er")
		if _, err := OpenWith(t.Context(), store, Options{Only: []string{"one.er"}}); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("%s is lost: the missing experiment: %v", what, err)
		}
	}
	tables := filepath.Join(store, "tables", "experiments")
	if err := errors.Join(os.WriteFile(path, nil, 0o666), os.Rename(tables, tables+".away")); err != nil { // nothing has the names
		t.Fatal(err)
	}
	look("left out: the experiments of commits/" + list[1].Batch + ".json, which cannot be read: damaged")
	if err := os.Rename(tables+".away", tables); err != nil {
		t.Fatal(err)
	}
	before := len(states)
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	look("")
	if len(states) != before {
		t.Error("the restored store has another state")
	}
	// After a repair, it names the missing experiments, though only a table has their names.
	if err := errors.Join(os.WriteFile(path, nil, 0o666), Repair(t.Context(), store, func(string, string) {})); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from the catalog
		look("left out: 2 experiments (one.er, two.er), which were damaged (ingest the recordings again")
	}
}
