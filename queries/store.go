package queries

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"stackmill/schema"
	"stackmill/stages/write"
)

// CatalogFile is the name of the file in a store that holds its views.
const CatalogFile = "stackmill.duckdb"

// DB is an open store. Its connections see the views of the catalog, which is
// attached read-only, so that any number of readers share it.
type DB struct {
	*sql.DB
	Store   string // absolute path
	Commits []write.Commit
	private string // directory of a catalog of our own, removed by Close
}

// Open opens the store for reading. A catalog that is missing, or is not that
// of this program and of the store's commits, is rebuilt; where the store
// cannot be written, in a private directory. The error is write.ErrNoStore
// when there is no store.
func Open(ctx context.Context, store string) (*DB, error) {
	store, commits, err := committed(store)
	if err != nil {
		return nil, err
	}
	statements, fingerprint, err := script(store, commits)
	if err != nil {
		return nil, err
	}
	db := &DB{Store: store, Commits: commits}
	if db.DB = attach(ctx, store, fingerprint); db.DB != nil {
		return db, nil
	}
	if build(ctx, store, statements) == nil {
		if db.DB = attach(ctx, store, fingerprint); db.DB != nil {
			return db, nil
		}
	}
	// Not writable, or a concurrent ingest has put its own catalog in place.
	if db.private, err = os.MkdirTemp("", "stackmill-catalog-"); err != nil {
		return nil, fmt.Errorf("catalog of %s: %w", store, err)
	}
	if err = build(ctx, db.private, statements); err == nil {
		if db.DB = attach(ctx, db.private, fingerprint); db.DB == nil {
			err = fmt.Errorf("catalog of %s: cannot be read from %s", store, db.private)
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close closes the store.
func (db *DB) Close() error {
	var err error
	if db.DB != nil {
		err = db.DB.Close()
	}
	if db.private != "" {
		err = errors.Join(err, os.RemoveAll(db.private))
	}
	return err
}

// Rebuild brings the store's catalog up to its commits.
func Rebuild(ctx context.Context, store string) error {
	store, commits, err := committed(store)
	if err != nil {
		return err
	}
	statements, _, err := script(store, commits)
	if err != nil {
		return err
	}
	return build(ctx, store, statements)
}

// committed returns the absolute path of a store and its commits, after a look
// at their version.
func committed(store string) (string, []write.Commit, error) {
	store, err := filepath.Abs(store)
	if err != nil {
		return "", nil, err
	}
	commits, err := write.Commits(store)
	if err != nil {
		return "", nil, err
	}
	for _, c := range commits {
		if c.StoreVersion != schema.StoreVersion {
			return "", nil, fmt.Errorf("store %s: batch %s has store format %q, this program reads %q (ingest into a new store, or use the program that wrote it)",
				store, c.Batch, c.StoreVersion, schema.StoreVersion)
		}
	}
	return store, commits, nil
}

// build writes a catalog into dir under a temporary name and renames it.
func build(ctx context.Context, dir string, statements []string) (err error) {
	temp, err := os.MkdirTemp(dir, ".catalog-")
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	defer os.RemoveAll(temp)
	path := filepath.Join(temp, CatalogFile)
	db, err := connect(nil)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	defer conn.Close()
	run := append([]string{"ATTACH " + quote(path) + " AS " + catalogName, "USE " + catalogName, "BEGIN"}, statements...)
	for _, s := range append(run, "COMMIT", "USE memory", "DETACH "+catalogName) {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("catalog of %s: %w (stackmill check lists files that are missing or damaged)", dir, err)
		}
	}
	if err := os.Rename(path, filepath.Join(dir, CatalogFile)); err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	return nil
}

// attach opens the catalog in dir read-only, or returns nil when it is missing,
// unreadable or has another fingerprint.
func attach(ctx context.Context, dir, fingerprint string) *sql.DB {
	catalog := filepath.Join(dir, CatalogFile)
	if _, err := os.Stat(catalog); err != nil {
		return nil
	}
	db, err := connect([]string{
		"ATTACH IF NOT EXISTS " + quote(catalog) + " AS " + catalogName + " (READ_ONLY)",
		"USE " + catalogName,
		"SET TimeZone = 'UTC'",
	})
	if err != nil {
		return nil
	}
	var found string
	err = db.QueryRowContext(ctx, "SELECT fingerprint FROM catalog_fingerprint").Scan(&found)
	if err != nil || found != fingerprint {
		db.Close()
		return nil
	}
	return db
}

// connect opens an empty in-memory database: catalogs are attached to it
// rather than opened, because a path may hold characters that mean something
// in a data source name. Each new connection runs the statements.
func connect(setup []string) (*sql.DB, error) {
	config := url.Values{
		"temp_directory": {filepath.Join(os.TempDir(), fmt.Sprintf("stackmill-%d", os.Getpid()))},
		// Nothing is fetched behind the user's back.
		"autoinstall_known_extensions": {"false"},
		"autoload_known_extensions":    {"false"},
	}
	connector, err := duckdb.NewConnector("?"+config.Encode(), func(conn driver.ExecerContext) error {
		for _, s := range setup {
			if _, err := conn.ExecContext(context.Background(), s, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("duckdb: %w", err)
	}
	return sql.OpenDB(connector), nil
}

// EngineVersion returns the version of DuckDB.
func EngineVersion(ctx context.Context) (version string, err error) {
	db, err := connect(nil)
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT version()").Scan(&version)
	return version, err
}
