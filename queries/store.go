package queries

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/storedir"
)

// CatalogFile is the name of the file in a store that holds its views.
const CatalogFile = "stackmill.duckdb"

// DB is an open store. Its connections see the views of the catalog, which is
// attached read-only, so that any number of readers share it.
type DB struct {
	*sql.DB
	Store       string // absolute path
	Batches     []storedir.Batch
	Experiments []Experiment       // by id
	Damaged     []storedir.Damaged // batches left out because their commits cannot be read

	unsafe bool
}

// Options say how a store is opened.
type Options struct {
	// Only, if not empty, are selectors of the experiments that the views hold: a store of
	// thousands opens faster that way.
	Only   []string
	Limits Limits
	// Unsafe lets SQL do all that the user may do, not just read the store.
	Unsafe bool
}

// Open opens the store for reading. A catalog that is missing, or is not this
// program's for the store's commits, is rebuilt; in memory if the store cannot be
// written. The error is storedir.ErrNoStore if there is no store.
func Open(ctx context.Context, store string) (*DB, error) { return OpenWith(ctx, store, Options{}) }

// OpenWith is Open with options.
func OpenWith(ctx context.Context, store string, o Options) (*DB, error) {
	store, c, err := committed(store)
	if err != nil {
		return nil, err
	}
	db := &DB{Store: store, Batches: c.Batches, Experiments: experimentsOf(c.Batches), Damaged: c.Damaged, unsafe: o.Unsafe}
	if len(o.Only) > 0 {
		whole := func() (*DB, error) { return OpenWith(ctx, store, Options{Limits: o.Limits}) }
		keep, err := (&selection{db.Experiments, whole, ctx}).any(o.Only)
		if err != nil {
			return nil, err
		}
		db.keep(keep)
	}
	d, err := define(store, db.Batches, db.Experiments)
	if err != nil {
		return nil, err
	}
	may := access{Limits: o.Limits, files: pathsOf(store, db.Batches), locked: !o.Unsafe}
	if len(o.Only) == 0 {
		if db.DB = attach(ctx, store, d.fingerprint, may); db.DB != nil {
			return db, nil
		}
		if Publish(ctx, store, "") == nil {
			if db.DB = attach(ctx, store, d.fingerprint, may); db.DB != nil {
				return db, nil
			}
		}
	}
	// Not all of the store, not writable, or a concurrent ingest has put its
	// own catalog in place.
	db.DB, err = inMemory(ctx, store, d, may)
	return db, err
}

// pathsOf returns the paths of the committed files and, for paths that look like
// patterns, the patterns that the views use for them.
func pathsOf(store string, batches []storedir.Batch) (paths []string) {
	for _, b := range batches {
		for _, f := range b.Files {
			path := store + "/" + f.Path
			paths = append(paths, path)
			if pattern := literal.Replace(path); pattern != path {
				paths = append(paths, pattern)
			}
		}
	}
	return paths
}

// keep leaves out all other experiments.
func (db *DB) keep(keep []bool) {
	kept := map[string]bool{}
	var experiments []Experiment
	for i, k := range keep {
		if k {
			experiments = append(experiments, db.Experiments[i])
			kept[db.Experiments[i].ExperimentID] = true
		}
	}
	var batches []storedir.Batch
	for _, b := range db.Batches {
		for e := range b.Visible {
			if !kept[e.ExperimentID] {
				b.Hidden = append(b.Hidden[:len(b.Hidden):len(b.Hidden)], e.ExperimentID)
			}
		}
		if len(b.Hidden) < len(b.Experiments) {
			slices.Sort(b.Hidden)
			batches = append(batches, b)
		}
	}
	db.Batches, db.Experiments = batches, experiments
}

// committed returns the absolute path of a store and what its commits say, after checking
// their versions.
func committed(store string) (string, *storedir.Contents, error) {
	store, err := filepath.Abs(store)
	if err != nil {
		return "", nil, err
	}
	c, err := storedir.Look(store)
	if err == nil {
		err = c.Usable()
	}
	if err != nil {
		return "", nil, err
	}
	return store, c, nil
}

// inMemory makes a catalog in memory.
func inMemory(ctx context.Context, store string, d *definitions, may access) (*sql.DB, error) {
	statements, err := d.all()
	if err != nil {
		return nil, err
	}
	db, err := connect(may, []string{"ATTACH ':memory:' AS " + catalogName}, []string{"USE " + catalogName})
	if err != nil {
		return nil, err
	}
	if err := execute(ctx, db, statements); err != nil {
		db.Close()
		return nil, fmt.Errorf("catalog of %s: %w", store, err)
	}
	return db, nil
}

// execute runs statements on one connection.
func execute(ctx context.Context, db *sql.DB, statements []string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return &statementError{err}
		}
	}
	return nil
}

// statementError is the error of a statement of ours.
type statementError struct{ cause error }

func (e *statementError) Error() string {
	first, _, _ := strings.Cut(e.cause.Error(), "\n") // the rest quotes the statement
	return first + " (stackmill check lists files that are missing or damaged)"
}

func (e *statementError) Unwrap() error { return e.cause }

// attach opens the catalog in dir read-only. It returns nil if the catalog is missing
// or unreadable, or has another fingerprint.
func attach(ctx context.Context, dir, fingerprint string, may access) *sql.DB {
	if _, err := os.Stat(filepath.Join(dir, CatalogFile)); err != nil {
		return nil
	}
	db, found, err := readCatalog(ctx, dir, may)
	if err != nil {
		return nil
	}
	if found != fingerprint {
		db.Close()
		return nil
	}
	return db
}

// readCatalog opens the catalog in dir read-only and returns its fingerprint.
func readCatalog(ctx context.Context, dir string, may access) (db *sql.DB, fingerprint string, err error) {
	catalog := filepath.Join(dir, CatalogFile)
	db, err = connect(may, []string{"ATTACH " + quote(catalog) + " AS " + catalogName + " (READ_ONLY)"}, []string{"USE " + catalogName})
	if err != nil {
		return nil, "", err
	}
	if err = db.QueryRowContext(ctx, "SELECT fingerprint FROM catalog_fingerprint").Scan(&fingerprint); err != nil {
		db.Close()
		return nil, "", err
	}
	return db, fingerprint, nil
}
