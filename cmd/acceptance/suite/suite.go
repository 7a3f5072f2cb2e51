// Package suite has what packages of acceptance tests share. Each package unpacks recordings and
// ingests them into one store, which all its tests read.
//
// Start reading with Main and Open; RecordNights (nights.go) makes a series of recordings.
package suite

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"stackmill/pipeline"
	"stackmill/queries"
)

// Main runs the tests of a package and exits with their status. prepare unpacks recordings into a
// temporary folder, and returns the store that the tests share.
func Main(m *testing.M, prepare func(folder string) (*queries.DB, error)) {
	flag.Parse()
	code, err := run(m, prepare)
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M, prepare func(string) (*queries.DB, error)) (code int, err error) {
	folder, err := os.MkdirTemp("", "stackmill-acceptance-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	db, err := prepare(folder)
	if err != nil {
		return 1, err
	}
	defer db.Close()
	return m.Run(), nil
}

// Build builds stackmill as the file binary, for tests that run it.
func Build(binary string) error { return build(binary, "stackmill", "1") }

// BuildWorker builds the worker (stackmill without cgo) as the file binary.
func BuildWorker(binary string) error { return build(binary, "stackmill-worker", "0") }

// build makes binary a link to the program in the folder $STACKMILL_PROGRAMS, where .ci/run has
// built it once for all packages. If that variable is not set, it builds the program.
func build(binary, name, cgo string) error {
	if programs := os.Getenv("STACKMILL_PROGRAMS"); programs != "" {
		return os.Symlink(filepath.Join(programs, name), binary)
	}
	c := exec.Command("go", "build", "-tags", "duckdb_arrow", "-o", binary, "stackmill/cmd/stackmill")
	c.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go build: %w\n%s", err, out)
	}
	return err
}

// Ingest ingests recordings into o.Store. It does not use debug files of this machine's libraries,
// because goldens and truth were made without them.
func Ingest(o pipeline.Options, paths ...string) ([]pipeline.Result, error) {
	o.Jobs, o.Memory = 2, 512<<20
	if o.DebugDirs == nil {
		o.DebugDirs = []string{filepath.Join(o.Store, "none")}
	}
	return pipeline.Ingest(context.Background(), o, paths...)
}

// Open ingests recordings like Ingest, and opens the store.
func Open(o pipeline.Options, paths ...string) (*queries.DB, error) {
	if _, err := Ingest(o, paths...); err != nil {
		return nil, err
	}
	return queries.Open(context.Background(), o.Store)
}

// Query runs SQL and calls scan for each row.
func Query(t *testing.T, db *sql.DB, scan func(*sql.Rows) error, text string, args ...any) {
	t.Helper()
	rows, err := db.Query(text, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// CheckFiles checks that a store has this many experiments and no defects, by reading its files. It
// uses SQL only for data objects.
func CheckFiles(t *testing.T, db *queries.DB, experiments int) {
	t.Helper()
	proof, err := queries.Check(t.Context(), db.Store, queries.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range proof.Doubted {
		t.Errorf("left to SQL: %v", d)
	}
	for _, w := range proof.Wrong {
		t.Error(w)
	}
	if proof.Experiments != experiments {
		t.Errorf("%d experiments, want %d", proof.Experiments, experiments)
	}
}

// CheckInvariants checks what CheckFiles checks, and also all invariants by SQL, which takes
// long.
func CheckInvariants(t *testing.T, db *queries.DB, experiments int) {
	t.Helper()
	CheckFiles(t, db, experiments)
	all, err := queries.Check(t.Context(), db.Store, queries.CheckOptions{SQL: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range all.Wrong {
		t.Error(w)
	}
}
