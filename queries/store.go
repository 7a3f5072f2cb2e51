package queries

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"stackmill/schema/storedir"
)

// CatalogFile is the name of the file in a store that holds its views.
const CatalogFile = "stackmill.duckdb"

// DB is an open store. Its connections see the views of the catalog, which is
// attached read-only, so that any number of readers share it.
type DB struct {
	*sql.DB
	Store      string             // absolute path
	State      string             // a hash of all commits that were read
	Count      int                // of its experiments
	Single     string             // the name of its experiment, if it is one
	Unreadable []UnreadableCommit // what answers lack because commits cannot be read
	Again      []storedir.Entry   // experiments that answers lack until they are ingested again: they were damaged
	Libraries  []Library          // of a narrowed store, those whose functions are not shown as usual

	said   *said
	unsafe bool
	sees   *definitions // of what the views hold; nil if that is the whole store, and not defined yet
	base   *sql.DB      // of a narrowed store, the one that it is a part of
	chosen bool         // whether that has some samples only

	metrics *metrics // of its experiments
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

// reopenings bounds how often a store is opened again of which files were replaced meanwhile.
const reopenings = 5

// OpenWith is Open with options.
func OpenWith(ctx context.Context, store string, o Options) (db *DB, err error) {
	for range reopenings {
		if db, err = openOnce(ctx, store, o); !storedir.IsMirror(store) || !errors.Is(err, fs.ErrNotExist) {
			return db, err
		}
	}
	return nil, fmt.Errorf("%w (stackmill check says what is missing)", err)
}

func openOnce(ctx context.Context, store string, o Options) (*DB, error) {
	store, err := filepath.Abs(store)
	if err != nil {
		return nil, err
	}
	db := &DB{Store: store, unsafe: o.Unsafe, said: newSaid(store), metrics: new(metrics)}
	if db.said.glance != nil {
		db.State = db.said.glance.State
	}
	if db.openKnown(ctx, o) {
		if err := db.fetch(); err != nil {
			return nil, errors.Join(err, db.Close())
		}
		return db, nil
	}
	c, err := db.said.contents()
	if err != nil {
		return nil, err
	}
	db.Unreadable, db.Again = unreadableIn(ctx, store, c), c.Again
	d := db.said.defined()
	see := &sight{}
	if len(o.Only) > 0 {
		if see.part, err = db.restrict(ctx, o); err != nil {
			return nil, db.perhapsLeftOut(err)
		}
	}
	db.sees = cmp.Or(see.part, d)
	db.counted(db.sees.experiments)
	if err := db.fetch(); err != nil {
		return nil, err
	}
	db.DB, err = db.connect(ctx, o, d, see)
	return db, err
}

// fetch brings the files that views read, if the store is elsewhere. Otherwise nobody needs to
// know yet what the commits say: that takes a third of the time of opening a large store.
func (db *DB) fetch() error {
	if !storedir.IsMirror(db.Store) {
		return nil
	}
	return storedir.FetchAll(db.Store, db.Batches())
}

// counted notes the experiments that are open.
func (db *DB) counted(experiments []Experiment) {
	if db.Count = len(experiments); db.Count == 1 {
		db.Single = experiments[0].Name
	}
}

// connect returns an engine that has the store's catalog, which d defines.
func (db *DB) connect(ctx context.Context, o Options, d *definitions, see *sight) (*sql.DB, error) {
	files, err := readablePaths(db.Store, filesIn(db.Batches()), o.Unsafe)
	if err != nil {
		return nil, err
	}
	may := access{Limits: o.Limits, files: files, locked: !o.Unsafe}
	if engine := attach(ctx, db.Store, d.fingerprint, may, see); engine != nil {
		db.said.remember(d)
		return engine, nil
	}
	if Publish(db.Store) == nil {
		if engine := attach(ctx, db.Store, d.fingerprint, may, see); engine != nil {
			return engine, nil
		}
	}
	// Not writable, or a concurrent ingest has put its own catalog in place.
	return inMemory(ctx, db.Store, cmp.Or(see.part, d), may)
}

// readablePaths returns the paths of committed files that the SQL engine may open and, for paths
// that look like patterns, the patterns that the views use for them. A query that needs another
// file fails. With unsafe the engine opens any file, so that those are an error here which are
// there and must not be opened. The files of a mirror may be all opened: they are fetched, and
// compared with their commits, before anybody reads them.
func readablePaths(store string, files iter.Seq[storedir.File], unsafe bool) (paths []string, err error) {
	var unfit map[string]error
	if !storedir.IsMirror(store) {
		if unfit, err = storedir.Unfit(store, files); err != nil {
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

// committed returns the absolute path of a store and what its commits say, after checking
// their versions.
func committed(store string) (string, *storedir.Contents, error) {
	store, err := filepath.Abs(store)
	if err != nil {
		return "", nil, err
	}
	c, err := newSaid(store).contents()
	return store, c, err
}

// inMemory makes a catalog in memory.
func inMemory(ctx context.Context, store string, d *definitions, may access) (*sql.DB, error) {
	db, err := connect(may, []string{"ATTACH ':memory:' AS " + catalogName}, (&sight{}).use)
	if err != nil {
		return nil, err
	}
	if err := d.make(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("catalog of %s: %w", store, err), db.Close())
	}
	return db, nil
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
func attach(ctx context.Context, dir, fingerprint string, may access, see *sight) *sql.DB {
	if storedir.IsRegular(filepath.Join(dir, CatalogFile)) != nil {
		return nil
	}
	db, found, err := readCatalog(ctx, dir, may, see)
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
func readCatalog(ctx context.Context, dir string, may access, see *sight) (db *sql.DB, fingerprint string, err error) {
	catalog := filepath.Join(dir, CatalogFile)
	db, err = connect(may, []string{"ATTACH " + quote(catalog) + " AS " + catalogName + " (READ_ONLY)"}, see.use)
	if err != nil {
		return nil, "", err
	}
	if err = db.QueryRowContext(ctx, "SELECT fingerprint FROM catalog_fingerprint").Scan(&fingerprint); err != nil {
		db.Close()
		return nil, "", err
	}
	return db, fingerprint, nil
}
