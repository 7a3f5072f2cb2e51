package queries

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/storetest"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// Batches are read together as long as the same experiments are visible, and each experiment is
// read once, from the batch in which it is visible.
func TestPortions(t *testing.T) {
	batch := func(name string, all []string, hidden ...string) storedir.Batch {
		b := storedir.Batch{Commit: storedir.Commit{Batch: name}, Hidden: hidden}
		for _, id := range all {
			b.Experiments = append(b.Experiments, storedir.Entry{ExperimentID: id})
		}
		return b
	}
	var words []string
	for _, p := range portions([]storedir.Batch{
		batch("p", []string{"a", "b"}, "a"), batch("q", []string{"c", "d"}, "d"), batch("r", []string{"a", "e"}, "e"),
		batch("s", []string{"x"}), batch("t", []string{"a", "f"}, "a"), batch("u", []string{"d", "e"}), batch("v", []string{"d", "h"}, "d", "h"),
	}) {
		var names []string
		for _, b := range p.batches {
			names = append(names, b.Batch)
		}
		words = append(words, fmt.Sprint(p.number, names, p.experiments(func(x visibility) bool { return x == everything }), p.experiments(func(x visibility) bool { return x == nothing })))
	}
	want := []string{"0 [s u] [] []", "1 [p q t v] [b c f] [a d h]", "2 [r] [a] [e]"}
	if !slices.Equal(words, want) {
		t.Errorf("got %q, want %q", words, want)
	}
}

// TestHidden reads a store in which several batches have the same experiment.
func TestHidden(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	look, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	count := func(batches ...storedir.Batch) string {
		t.Helper()
		db, err := inMemory(t.Context(), store, define(store, batches, experimentsOf(batches), columnForm{}), engineConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		return fmt.Sprint(rows(t, db, "SELECT experiment_id, count(*) FROM samples GROUP BY ALL ORDER BY 1"), rows(t, db, "SELECT count(*) FROM function_metrics"))
	}
	a, b := look.Batches[0], look.Batches[1]
	whole := count(a, b)
	db, err := OpenWith(t.Context(), store, Options{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// A batch with the rows of both experiments, one of them visible, among many others or alone.
	both := storedir.Batch{Commit: storedir.Commit{Batch: "both", Experiments: slices.Concat(a.Experiments, b.Experiments)}}
	for _, table := range schema.Tables {
		name := filepath.Join("tables", table.Name, "both.parquet")
		found := filesOf(store, table, slices.Values([]*storedir.Batch{&a, &b}))
		if found.paths == nil {
			continue
		}
		if _, err := db.Exec(fmt.Sprintf("COPY (FROM %s) TO %s", found.read(), quote(filepath.Join(store, name)))); err != nil {
			t.Fatal(err)
		}
		both.Files = append(both.Files, storedir.File{Table: table.Name, Path: name})
	}
	for range few + 1 {
		other := b.Experiments[0]
		other.ExperimentID = fmt.Sprintf("%016x", len(both.Experiments))
		both.Experiments = append(both.Experiments, other)
	}
	both.Hidden = []string{b.Experiments[0].ExperimentID}
	if got := count(both, b); got != whole {
		t.Errorf("one of a batch counts: got %s, want %s", got, whole)
	}
	both.Experiments = both.Experiments[:2]
	both.Hidden = []string{a.Experiments[0].ExperimentID}
	if got := count(a, both); got != whole {
		t.Errorf("the other one counts: got %s, want %s", got, whole)
	}
}

// TestExpectedRows asks the engine how many rows it expects of batches whose first one has another
// size, before it opens a file: join orders depend on that.
func TestExpectedRows(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	db, err := Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"samples", "functions", "stack_tree"} {
		var key, plan string
		if err := db.QueryRow("EXPLAIN (FORMAT json) SELECT experiment_id FROM "+table+"_rows()").Scan(&key, &plan); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := db.QueryRow("SELECT count(*) FROM " + table + "_rows()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`"Estimated Cardinality": "%d"`, n); !strings.Contains(plan, want) {
			t.Errorf("%s: no %s in %s", table, want, plan)
		}
	}
}
