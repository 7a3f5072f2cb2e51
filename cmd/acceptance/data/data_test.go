// Package data compares the data objects of recorded memory accesses with what the recorded
// programs print about their own data.
package data

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
)

var (
	folder string // with the recordings
	shared *queries.DB
)

// ofCorpus are the recordings of memory accesses in perf's corpus.
var ofCorpus = []string{"p_data", "p_data_phys", "p_watch"}

func TestMain(m *testing.M) {
	suite.Main(m, func(dir string) (db *queries.DB, err error) {
		folder = dir
		if err := errors.Join(corpus.Data(folder), corpus.Perf(folder), writeCounters()); err != nil {
			return nil, err
		}
		paths := []string{filepath.Join(folder, "data"), filepath.Join(folder, "members"), filepath.Join(folder, "guarded"), filepath.Join(folder, "counters")}
		for _, name := range ofCorpus {
			paths = append(paths, filepath.Join(folder, "perf", name+".data"))
		}
		shared, err = suite.Open(pipeline.Options{Store: filepath.Join(folder, "store"), SymFS: filepath.Join(folder, "symfs")}, paths...)
		return shared, err
	})
}

func query(t *testing.T, scan func(*sql.Rows) error, text string, args ...any) {
	t.Helper()
	suite.Query(t, shared.DB, scan, text, args...)
}

// Every view's invariants hold for every recording.
func TestInvariants(t *testing.T) {
	suite.CheckInvariants(t, shared, len(recordings(t, "data"))+len(recordings(t, "members"))+len(recordings(t, "guarded"))+len(ofCorpus)+len(counters))
}
