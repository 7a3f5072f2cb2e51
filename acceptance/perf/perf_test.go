// Package perf compares the store with what perf prints for its own recordings.
package perf

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/acceptance/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
)

var (
	folder string // of the recordings
	shared *queries.DB
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if folder, err = os.MkdirTemp("", "stackmill-perf-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	if err := corpus.Perf(folder); err != nil {
		return 1, err
	}
	store := filepath.Join(folder, "store")
	if _, err := ingest(store, filepath.Join(folder, "perf")); err != nil {
		return 1, err
	}
	if shared, err = queries.Open(context.Background(), store); err != nil {
		return 1, err
	}
	defer shared.Close()
	return m.Run(), nil
}

func ingest(store string, paths ...string) ([]pipeline.Result, error) {
	return pipeline.Ingest(context.Background(), pipeline.Options{
		Store: store, Jobs: 2, Memory: 512 << 20, DebugDirs: []string{filepath.Join(folder, "none")},
		SymFS: filepath.Join(folder, "symfs"), Kallsyms: filepath.Join(folder, "kallsyms"), PerfMaps: filepath.Join(folder, "perf", "maps"),
	}, paths...)
}

// cases are the names of the good recordings.
func cases(t *testing.T) []string {
	found, err := filepath.Glob(filepath.Join(folder, "perf", "*.data"))
	if err != nil || len(found) == 0 {
		t.Fatal("no recordings", err)
	}
	for i, f := range found {
		found[i] = strings.TrimSuffix(filepath.Base(f), ".data")
	}
	return found
}

func query(t *testing.T, scan func(*sql.Rows) error, text string, args ...any) {
	t.Helper()
	rows, err := shared.Query(text, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// Every view's invariants hold for every recording.
func TestInvariants(t *testing.T) {
	proof, err := queries.Check(context.Background(), filepath.Join(folder, "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range proof.Wrong {
		t.Error(w)
	}
	if proof.Batches != len(cases(t)) {
		t.Errorf("%d batches", proof.Batches)
	}
}
