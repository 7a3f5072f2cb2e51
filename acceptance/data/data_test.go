// Package data compares the data objects of recorded accesses to memory with
// what the recorded programs say about their own data.
package data

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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

// ofCorpus are the recordings of accesses to memory among perf's others.
var ofCorpus = []string{"p_data", "p_data_phys", "p_watch"}

func run(m *testing.M) (code int, err error) {
	if folder, err = os.MkdirTemp("", "stackmill-data-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	if err := corpus.Data(folder); err != nil {
		return 1, err
	}
	if err := corpus.Perf(folder); err != nil {
		return 1, err
	}
	if err := writeCounters(); err != nil {
		return 1, err
	}
	paths := []string{filepath.Join(folder, "data"), filepath.Join(folder, "members"), filepath.Join(folder, "counters")}
	for _, name := range ofCorpus {
		paths = append(paths, filepath.Join(folder, "perf", name+".data"))
	}
	store := filepath.Join(folder, "store")
	_, err = pipeline.Ingest(context.Background(), pipeline.Options{
		Store: store, Jobs: 2, Memory: 512 << 20, DebugDirs: []string{filepath.Join(folder, "none")}, SymFS: filepath.Join(folder, "symfs"),
	}, paths...)
	if err != nil {
		return 1, err
	}
	if shared, err = queries.Open(context.Background(), store); err != nil {
		return 1, err
	}
	defer shared.Close()
	return m.Run(), nil
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
	if recordings := len(recordings(t, "data")) + len(recordings(t, "members")); proof.Batches != recordings+len(ofCorpus)+len(counters) {
		t.Errorf("%d batches of %d", proof.Batches, recordings)
	}
}
