// Package acceptance compares the store with gprofng's output for recorded experiments, and with
// the sources of their programs.
package acceptance

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/internal/testfiles"
	"stackmill/pipeline"
	"stackmill/queries"
)

// All tests that only read share one store: every undamaged recording, ingested by one command.
var (
	recordings string // the folder of the recordings and goldens
	shared     *queries.DB
	scratch    string // a folder that is removed at the end
)

// buildOnce builds the program for the tests that run it.
var buildOnce = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(scratch, "stackmill")
	return binary, suite.Build(binary)
})

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
	if recordings, err = corpus.Dir(); err != nil {
		return 1, err
	}
	defer corpus.Remove()
	if scratch, err = os.MkdirTemp("", "stackmill-acceptance-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(scratch)
	store := filepath.Join(scratch, "store")
	if _, err := ingest(store, filepath.Join(scratch, "cache"), filepath.Join(recordings, "exp")); err != nil {
		return 1, err
	}
	if shared, err = queries.Open(context.Background(), store); err != nil {
		return 1, err
	}
	defer shared.Close()
	return m.Run(), nil
}

// ingest reads the recordings below the paths into a store. It ignores debug files of this
// machine's libraries: goldens and truth were made without them.
func ingest(store, cache string, paths ...string) ([]pipeline.Result, error) {
	return pipeline.Ingest(context.Background(), pipeline.Options{
		Store: store, Cache: cache, Jobs: 2, Memory: 512 << 20, Recursive: true, DebugDirs: []string{scratch},
	}, paths...)
}

// cases returns the names of the undamaged recordings.
func cases(t *testing.T) []string {
	found := testfiles.Glob(t, filepath.Join(recordings, "exp", "*.er"))
	for i, f := range found {
		found[i] = f[len(filepath.Dir(f))+1 : len(f)-len(".er")]
	}
	return found
}

// withGolden returns the names of the undamaged recordings with goldens: all but one.
func withGolden(t *testing.T) []string {
	return slices.DeleteFunc(cases(t), func(c string) bool { return c == "loading" })
}

// row is a row of a query's result.
type row interface{ Scan(...any) error }

// query runs SQL and scans each row with the function.
func query(t *testing.T, db *sql.DB, scan func(row) error, text string, args ...any) {
	t.Helper()
	suite.Query(t, db, func(r *sql.Rows) error { return scan(r) }, text, args...)
}

// number returns the only value of a query's result, 0 for none or NULL.
func number(t *testing.T, db *sql.DB, text string, args ...any) int64 {
	t.Helper()
	var n sql.NullInt64
	query(t, db, func(r row) error { return r.Scan(&n) }, text, args...)
	return n.Int64
}

// All sums can be verified by reading the files, without SQL.
func TestProvedWithoutSQL(t *testing.T) {
	proof, err := queries.Check(t.Context(), shared.Store, queries.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range proof.Doubted {
		t.Error(d)
	}
}

// Values computed from the stored stacks equal the stored values.
func TestComputedValues(t *testing.T) {
	if n := suite.CheckValues(t, filepath.Join(scratch, "store")); n != len(cases(t)) {
		t.Errorf("%d experiments have values, of %d", n, len(cases(t)))
	}
}
