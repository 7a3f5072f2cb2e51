// Package perf compares the store with perf's output for its own recordings.
package perf

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/internal/testfiles"
	"stackmill/pipeline"
	"stackmill/queries"
)

var (
	folder string // of the recordings
	shared *queries.DB
)

func TestMain(m *testing.M) {
	suite.Main(m, func(dir string) (db *queries.DB, err error) {
		folder = dir
		if err := corpus.Perf(folder); err != nil {
			return nil, err
		}
		shared, err = suite.Open(options(filepath.Join(folder, "store")), filepath.Join(folder, "perf"))
		return shared, err
	})
}

// options returns the options with the recordings' load objects and symbols.
func options(store string) pipeline.Options {
	return pipeline.Options{
		Store: store, SymFS: filepath.Join(folder, "symfs"), Kallsyms: filepath.Join(folder, "kallsyms"), PerfMaps: filepath.Join(folder, "perf", "maps"),
	}
}

func ingest(store string, paths ...string) ([]pipeline.Result, error) {
	return suite.Ingest(options(store), paths...)
}

// cases returns the names of the undamaged recordings.
func cases(t *testing.T) []string {
	found := testfiles.Glob(t, filepath.Join(folder, "perf", "*.data"))
	for i, f := range found {
		found[i] = strings.TrimSuffix(filepath.Base(f), ".data")
	}
	return found
}

func query(t *testing.T, scan func(*sql.Rows) error, text string, args ...any) {
	t.Helper()
	suite.Query(t, shared.DB, scan, text, args...)
}

// Every view's invariants hold for every recording.
func TestInvariants(t *testing.T) {
	suite.CheckInvariants(t, shared, len(cases(t)))
}
