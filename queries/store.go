package queries

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"

	"stackmill/schema/storedir"
)

// CatalogFile is the file in a store that holds its views.
const CatalogFile = "stackmill.duckdb"

// DB is an open store. Its connections see the views of the catalog. The catalog is attached
// read-only, so any number of readers can use it at once.
type DB struct {
	*sql.DB
	Store      string             // absolute path
	State      string             // a hash of the commits
	Commits    []string           // the batches with a commit, sorted
	Count      int                // number of experiments
	Single     string             // the experiment's name if there is only one
	Unreadable []UnreadableCommit // commits whose content answers lack
	Again      []storedir.Entry   // damaged experiments, left out until they are ingested again
	Libraries  []Library          // in a filtered session: load objects whose functions are hidden

	open         openBatches
	unsafe       bool
	sees         *definitions // the definitions of what the views show
	unfiltered   *sql.DB      // the session without the filter; only in a filtered session
	fewerSamples bool         // whether the filter has conditions on samples

	metrics *metrics
}

// Options say how to open a store.
type Options struct {
	// Only, if not empty, has selectors of the experiments that the views show. With few of
	// thousands of experiments, the store opens faster.
	Only   []string
	Limits Limits
	// Commits, if not nil, has the batches whose commits are read, as if the store had no others: the DB.Commits of
	// an earlier state, which is open again if DB.State is as it was.
	Commits []string
	// Unsafe allows SQL all that the user may do, not just to read the store.
	Unsafe bool
}

// Open opens a store for reading. If the catalog is missing or out of date, Open rebuilds it; in
// memory, if the store cannot be written. The error is storedir.ErrNoStore if there is no store.
func Open(ctx context.Context, store string) (*DB, error) { return OpenWith(ctx, store, Options{}) }

// reopenings is how often opening is tried, if files are replaced meanwhile.
const reopenings = 5

// OpenWith is Open with options.
func OpenWith(ctx context.Context, store string, o Options) (db *DB, err error) {
	for range reopenings {
		if db, err = openOnce(ctx, store, o); !storedir.IsCache(store) || !errors.Is(err, fs.ErrNotExist) {
			return db, err
		}
	}
	return nil, fmt.Errorf("%w (stackmill check says what is missing)", err)
}

func openOnce(ctx context.Context, store string, o Options) (*DB, error) {
	store, c, raw, err := readCommits(store, o.Commits)
	if err != nil {
		return nil, err
	}
	db := &DB{Store: store, State: raw.State, Commits: raw.Batches(), Unreadable: leftOutIn(ctx, store, c), Again: c.ToReingest, unsafe: o.Unsafe, metrics: new(metrics)}
	db.open = openBatches{c.Batches, experimentsOf(c.Batches)}
	db.setCount()
	whole := db.open.define(store)
	db.sees = whole
	var subset *definitions
	if len(o.Only) > 0 {
		if err := db.restrict(ctx, o.Limits, o.Only); err != nil {
			return nil, err
		}
		subset = db.sees
	}
	if storedir.IsCache(store) {
		if err := storedir.FetchAll(store, db.Batches()); err != nil {
			return nil, err
		}
	}
	db.DB, err = db.connect(ctx, o, whole, subset)
	return db, err
}

func (db *DB) setCount() {
	db.Single = ""
	if db.Count = len(db.open.experiments); db.Count == 1 {
		db.Single = db.open.experiments[0].Name
	}
}

// connect returns an engine with the store's catalog. d are its definitions; subset, if not nil,
// has those that the connections see.
func (db *DB) connect(ctx context.Context, o Options, d, subset *definitions) (*sql.DB, error) {
	files, err := readablePaths(db.Store, filesIn(db.Batches()), o.Unsafe)
	if err != nil {
		return nil, err
	}
	config := engineConfig{Limits: o.Limits, files: files, locked: !o.Unsafe}
	if engine := attach(ctx, db.Store, d.fingerprint, config, subset); engine != nil {
		return engine, nil
	}
	if o.Commits == nil && Publish(db.Store) == nil {
		if engine := attach(ctx, db.Store, d.fingerprint, config, subset); engine != nil {
			return engine, nil
		}
	}
	// The store cannot be written, or a concurrent ingest has replaced the catalog.
	return inMemory(ctx, db.Store, db.sees, config)
}

// readablePaths returns the paths of committed files that a locked engine may open. A path that
// looks like a pattern is followed by its escaped form, which the views use. Missing or irregular
// files are left out: queries that need them fail. An unsafe engine could open these anyway, so
// then an existing one is an error. In a store on S3 all files are returned: they are compared with
// their commits when they are fetched.
func readablePaths(store string, files iter.Seq[storedir.File], unsafe bool) (paths []string, err error) {
	var unfit map[string]error
	if !storedir.IsCache(store) {
		if unfit, err = storedir.UnreadableFiles(store, files); err != nil {
			return nil, err
		}
	}
	for f := range files {
		if err := unfit[f.Path]; err != nil {
			if unsafe && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			continue
		}
		path := store + "/" + f.Path
		paths = append(paths, path)
		if pattern := literal.Replace(path); pattern != path {
			paths = append(paths, pattern)
		}
	}
	return paths, nil
}

// filesIn iterates over the files of batches.
func filesIn(batches []storedir.Batch) iter.Seq[storedir.File] {
	return func(yield func(storedir.File) bool) {
		for i := range batches {
			for _, f := range batches[i].Files {
				if !yield(f) {
					return
				}
			}
		}
	}
}

func inMemory(ctx context.Context, store string, d *definitions, config engineConfig) (*sql.DB, error) {
	db, err := connect(config, []string{"ATTACH ':memory:' AS " + catalogName}, useCatalog(nil))
	if err != nil {
		return nil, err
	}
	if err := d.make(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("catalog of %s: %w", store, err), db.Close())
	}
	return db, nil
}

// statementError is the error of one of this program's own statements.
type statementError struct{ cause error }

func (e *statementError) Error() string {
	return firstLine(e.cause.Error()) + " (stackmill check lists files that are missing or damaged)"
}

func (e *statementError) Unwrap() error { return e.cause }

// attach opens the catalog in dir read-only. It returns nil if the catalog is missing or
// unreadable, or has another fingerprint.
func attach(ctx context.Context, dir, fingerprint string, config engineConfig, subset *definitions) *sql.DB {
	if storedir.IsRegular(filepath.Join(dir, CatalogFile)) != nil {
		return nil
	}
	db, found, err := readCatalog(ctx, dir, config, subset)
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
func readCatalog(ctx context.Context, dir string, config engineConfig, subset *definitions) (db *sql.DB, fingerprint string, err error) {
	catalog := filepath.Join(dir, CatalogFile)
	db, err = connect(config, []string{"ATTACH " + quote(catalog) + " AS " + catalogName + " (READ_ONLY)"}, useCatalog(subset))
	if err != nil {
		return nil, "", err
	}
	if err = db.QueryRowContext(ctx, "SELECT fingerprint FROM catalog_fingerprint").Scan(&fingerprint); err != nil {
		db.Close()
		return nil, "", err
	}
	return db, fingerprint, nil
}
