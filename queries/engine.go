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
	"runtime"
	"strings"
	"sync"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// Limits bound the SQL engine's use of the machine.
type Limits struct {
	Memory  int64 // bytes; 0: DefaultMemory, or what the engine takes of a small machine
	Threads int   // 0: as many as there are processors
}

// DefaultMemory is the most memory that the SQL engine uses by default. What needs
// more goes to temporary files.
const DefaultMemory = 4 << 30

// SpillFactor is how many times its memory the engine's temporary files may take.
const SpillFactor = 4

// access is what the SQL of an engine may do outside of it.
type access struct {
	Limits
	most   int64    // bytes of memory, if Limits does not say; 0: DefaultMemory
	files  []string // the only files that it may open, when it is locked
	locked bool     // false for our own statements that write a catalog, and for --unsafe
	// decide, if not nil, is called once the setup has run, and returns files.
	decide func(connection) (files []string, err error)
}

// connection is one of the engine's own.
type connection interface {
	driver.ExecerContext
	driver.QueryerContext
}

// connect opens an empty in-memory database: catalogs are attached to it
// rather than opened, because a path may hold characters that mean something
// in a data source name. The statements in setup run once; each is called for every
// connection.
//
// A locked engine opens only the given files and those of its temporary directory,
// loads no extension, and keeps its settings. It could still write to these files:
// foreign SQL goes through Admit.
func connect(may access, setup []string, each func(driver.ExecerContext) error) (*sql.DB, error) {
	temp := newEngineDir()
	connector, err := duckdb.NewConnector("?"+may.config(temp.path).Encode(), initializer(may, setup, each))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("duckdb: %w", err), temp.remove())
	}
	return sql.OpenDB(&ownConnector{connector, temp}), nil
}

// config are the settings with which an engine starts.
func (may access) config(temp string) url.Values {
	threads := may.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return url.Values{
		"threads":        {fmt.Sprint(threads)},
		"temp_directory": {temp},
		// Nothing is downloaded.
		"autoinstall_known_extensions": {"false"},
		"autoload_known_extensions":    {"false"},
		"allow_persistent_secrets":     {"false"},
	}
}

func kibibytes(n int64) string { return fmt.Sprintf("%dKiB", max(n>>10, 1)) }

// initializer returns the function that sets up each new connection.
func initializer(may access, setup []string, each func(driver.ExecerContext) error) func(driver.ExecerContext) error {
	var once sync.Once
	var failed error
	return func(conn driver.ExecerContext) error {
		once.Do(func() {
			if failed = run(conn, setup); failed == nil {
				failed = may.limit(conn)
			}
			if failed == nil && may.decide != nil {
				may.files, failed = may.decide(conn.(connection))
			}
			if failed == nil && may.locked {
				failed = run(conn, lock(may.files))
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

// limit bounds memory and temporary files, and makes the settings that are the same for all.
func (may access) limit(conn driver.ExecerContext) error {
	memory := may.Memory
	if memory == 0 {
		usual, err := engineMemory(conn.(driver.QueryerContext))
		if err != nil {
			return err
		}
		memory = min(usual, cmp.Or(may.most, DefaultMemory))
	}
	return run(conn, []string{
		"SET GLOBAL memory_limit = " + quote(kibibytes(memory)),
		"SET GLOBAL max_temp_directory_size = " + quote(kibibytes(SpillFactor*memory)),
		"SET GLOBAL TimeZone = 'UTC'",
		// The files never change: their footers need not be read twice.
		"SET GLOBAL parquet_metadata_cache = true",
	})
}

// engineMemory is the engine's own limit: it knows the machine and the control group.
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
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = `"` + listed.Replace(f) + `"`
	}
	return []string{
		// Files and no directories: in a directory, reading functions could make files. The
		// list is one text, which the engine reads faster than thousands.
		"SET GLOBAL allowed_paths = " + quote("["+strings.Join(list, ", ")+"]"),
		"SET GLOBAL enable_external_access = false",
		"SET GLOBAL lock_configuration = true",
	}
}

// listed protects the characters that end a quoted text in the text of a list.
var listed = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// ownConnector removes the temporary directory when the database is closed.
type ownConnector struct {
	*duckdb.Connector
	temp engineDir
}

var _ io.Closer = (*ownConnector)(nil) // sql.DB.Close calls it

// Driver leads from a database to its engine.
func (c *ownConnector) Driver() driver.Driver { return c }

// Open implements driver.Driver: it connects to the same database, whatever the name.
func (c *ownConnector) Open(string) (driver.Conn, error) { return c.Connect(context.Background()) }

// Close closes the database.
func (c *ownConnector) Close() error {
	return errors.Join(c.Connector.Close(), c.temp.remove())
}

// EngineVersion returns the version of DuckDB.
func EngineVersion() string { return mapping.LibraryVersion() }
