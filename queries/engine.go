package queries

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"stackmill/internal/tempdir"
)

// Limits bound the SQL engine's use of the machine.
type Limits struct {
	Memory  int64 // bytes; 0: DefaultMemory, or the engine's own limit if that is less
	Threads int   // 0: as many as there are processors
}

// DefaultMemory is the SQL engine's default memory limit. Beyond it, the engine uses temporary
// files.
const DefaultMemory = 4 << 30

// SpillFactor bounds temporary files to a multiple of the memory limit.
const SpillFactor = 4

// engineConfig says how much an engine may use, and which files its SQL may open.
type engineConfig struct {
	Limits
	defaultMemory int64    // bytes, if Limits has none; 0: DefaultMemory
	files         []string // the only files that a locked engine may open
	locked        bool     // false for our own statements that write a catalog, and for --unsafe
}

// connect opens an empty in-memory database. Catalogs are attached to it rather than opened as the
// database, because a data source name cannot hold every path. The statements of setup run once;
// the function each is called for every connection.
//
// A locked engine opens only the given files and those of its temporary directory, loads no
// extension, and keeps its settings. It could still write to these files, so foreign SQL must go
// through Admit.
func connect(config engineConfig, setup []string, each func(driver.ExecerContext) error) (*sql.DB, error) {
	temp := newEngineDir()
	connector, err := duckdb.NewConnector("?"+config.settings(temp.path).Encode(), initializer(config, setup, each))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("duckdb: %w", err), temp.remove())
	}
	return sql.OpenDB(&engineConnector{connector, temp}), nil
}

// settings are the settings with which an engine starts.
func (config engineConfig) settings(temp string) url.Values {
	threads := config.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return url.Values{
		"threads":        {fmt.Sprint(threads)},
		"temp_directory": {temp},
		// The engine downloads no extensions.
		"autoinstall_known_extensions": {"false"},
		"autoload_known_extensions":    {"false"},
		"allow_persistent_secrets":     {"false"},
	}
}

func kibibytes(n int64) string { return fmt.Sprintf("%dKiB", max(n>>10, 1)) }

// initializer returns the function that sets up each new connection.
func initializer(config engineConfig, setup []string, each func(driver.ExecerContext) error) func(driver.ExecerContext) error {
	var once sync.Once
	var failed error
	return func(conn driver.ExecerContext) error {
		once.Do(func() {
			if failed = run(conn, setup); failed == nil {
				failed = config.limit(conn)
			}
			if failed == nil && config.locked {
				failed = run(conn, lock(config.files))
			}
		})
		if failed != nil {
			return failed
		}
		return each(conn)
	}
}

func run(conn driver.ExecerContext, statements []string) error {
	for _, s := range statements {
		if _, err := conn.ExecContext(context.Background(), s, nil); err != nil {
			return err
		}
	}
	return nil
}

// limit sets the limits of memory and temporary files, and the settings that all engines have in
// common.
func (config engineConfig) limit(conn driver.ExecerContext) error {
	memory := config.Memory
	if memory == 0 {
		usual, err := engineMemory(conn.(driver.QueryerContext))
		if err != nil {
			return err
		}
		memory = min(usual, cmp.Or(config.defaultMemory, DefaultMemory))
	}
	return run(conn, []string{
		"SET GLOBAL memory_limit = " + quote(kibibytes(memory)),
		"SET GLOBAL max_temp_directory_size = " + quote(kibibytes(SpillFactor*memory)),
		"SET GLOBAL TimeZone = 'UTC'",
		// The files never change, so their footers need not be read twice.
		"SET GLOBAL parquet_metadata_cache = true",
	})
}

// engineMemory returns the engine's own default limit: it depends on the machine's and the control
// group's memory.
func engineMemory(conn driver.QueryerContext) (int64, error) {
	rows, err := conn.QueryContext(context.Background(), "SELECT current_setting('memory_limit')", nil)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	value := make([]driver.Value, 1)
	if err := rows.Next(value); err != nil {
		return 0, err
	}
	text := fmt.Sprint(value[0])
	var n float64
	var unit string
	if _, err := fmt.Sscan(text, &n, &unit); err != nil {
		return 0, fmt.Errorf("duckdb: memory limit %q: %w", text, err)
	}
	shift := max(0, strings.Index("KMGTP", unit[:1])+1)
	return int64(n * float64(int64(1)<<(10*shift))), nil
}

// lock returns the statements that lock an engine.
func lock(files []string) []string {
	list := mapped(files, func(f string) string { return `"` + listed.Replace(f) + `"` })
	return []string{
		// The list has only files, because SQL that is allowed to read could create files in a
		// directory. It is one text, because the engine reads that faster than a list of thousands
		// of texts.
		"SET GLOBAL allowed_paths = " + quote("["+strings.Join(list, ", ")+"]"),
		"SET GLOBAL enable_external_access = false",
		"SET GLOBAL lock_configuration = true",
	}
}

// listed escapes a file's path as a quoted element of the text of a list.
var listed = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// engineConnector removes the engine's temporary directory when the database is closed.
type engineConnector struct {
	*duckdb.Connector
	temp engineDir
}

var _ io.Closer = (*engineConnector)(nil) // sql.DB.Close calls it

// Driver implements driver.Connector. It returns the connector, which sessions find by
// sql.DB.Driver.
func (c *engineConnector) Driver() driver.Driver { return c }

// Open implements driver.Driver. It ignores the name, and connects to the same database.
func (c *engineConnector) Open(string) (driver.Conn, error) { return c.Connect(context.Background()) }

// Close closes the database and removes the directory.
func (c *engineConnector) Close() error {
	return errors.Join(c.Connector.Close(), c.temp.remove())
}

// EngineVersion returns the version of DuckDB.
func EngineVersion() string { return mapping.LibraryVersion() }

// engineDir is an engine's temporary directory. If it could not be made, queries that need it fail.
type engineDir struct {
	*tempdir.Dir        // nil if it could not be made
	path         string // a subdirectory for SQL, which must not see the owner's file
}

func newEngineDir() engineDir {
	dir, err := tempdir.Make("sql")
	if err != nil {
		return engineDir{}
	}
	d := engineDir{dir, filepath.Join(dir.Path, "engine")}
	if err := os.Mkdir(d.path, 0o700); err != nil {
		_ = d.remove() // it is empty
		return engineDir{}
	}
	return d
}

func (d engineDir) remove() error {
	if d.Dir == nil {
		return nil
	}
	return d.Remove()
}
