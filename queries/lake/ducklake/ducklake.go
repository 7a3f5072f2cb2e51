// Package ducklake describes the tables of a lake as DuckLake does, by tables of SQL: a DuckDB
// file with the catalog of version 1.0 of its specification (ducklake.select/docs), which names
// the files of each table. It is a lake that nobody changes: an export replaces the file.
package ducklake

import (
	"context"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/google/uuid"

	"stackmill/queries"
	"stackmill/queries/lake"
	"stackmill/schema/storedir"
)

// Format is the name of the format.
const Format = "ducklake"

// File is the catalog's name in the folder of a lake.
const File = lake.Namespace + ".ducklake"

// catalog makes the catalog's tables, all that the specification has.
//
//go:embed catalog.sql
var catalog string

// types are the names that the format has for those of lakes ("Data Types").
var types = map[string]string{"VARCHAR": "varchar", "BIGINT": "int64", "INTEGER": "int32", "BOOLEAN": "boolean", "DOUBLE": "float64", "TIMESTAMP WITH TIME ZONE": "timestamptz"}

// Update puts a catalog of the tables of a lake in place, and returns the number of files that
// it names.
func Update(ctx context.Context, l *lake.Lake, tables []lake.Table) (files int, err error) {
	temp := filepath.Join(l.Folder, "."+File+".tmp")
	if err := remove(temp); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, remove(temp)) }()
	if files, err = write(ctx, temp, l.Base(), tables); err != nil {
		return files, err
	}
	return files, storedir.ReplaceFile(temp, filepath.Join(l.Folder, File))
}

// remove removes a database that may be there.
func remove(path string) error {
	for _, p := range []string{path, path + ".wal"} {
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// write makes the catalog. base is the lake's folder as readers know it.
func write(ctx context.Context, path, base string, tables []lake.Table) (files int, err error) {
	if strings.Contains(path, "?") { // the engine would place its log in another folder
		return 0, fmt.Errorf("%s: the SQL engine cannot write below a folder with a \"?\" in its name (rename it)", filepath.Dir(path))
	}
	connector, err := duckdb.NewConnector("", nil) // of a path, it takes some characters for those of a URL
	if err != nil {
		return 0, err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close(), connector.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	attach := fmt.Sprintf("ATTACH %s AS lake (BLOCK_SIZE 16384); USE lake;", queries.Quote(path))
	if _, err := conn.ExecContext(ctx, attach+catalog); err != nil {
		return 0, err
	}
	err = conn.Raw(func(raw any) error {
		w := &writer{conn: raw.(driver.Conn), appenders: map[string]*duckdb.Appender{}, now: time.Now().UTC(), next: 1}
		for _, t := range tables {
			w.table(t)
		}
		w.finish(base)
		files = w.files
		return w.close()
	})
	return files, err
}

// writer fills the tables of a catalog. What they say is of one snapshot, after that of an empty
// lake.
type writer struct {
	conn      driver.Conn
	appenders map[string]*duckdb.Appender // by table
	now       time.Time
	next      int64 // identifier of a table or mapping
	nextFile  int64
	files     int // with rows
	changes   []string
	err       error // the first
}

// The numbers of the snapshots, and of the schema that every lake has.
const (
	empty, full int64 = 0, 1
	mainID      int64 = 0
	mainName          = "main"
)

// add adds a row to a table of the catalog.
func (w *writer) add(table string, values ...driver.Value) {
	if w.err != nil {
		return
	}
	a := w.appenders[table]
	if a == nil {
		if a, w.err = duckdb.NewAppenderFromConn(w.conn, "", table); w.err != nil {
			return
		}
		w.appenders[table] = a
	}
	if err := a.AppendRow(values...); err != nil {
		w.err = fmt.Errorf("%s: %w", table, err)
	}
}

// close completes the tables, and returns the first error.
func (w *writer) close() error {
	for _, a := range w.appenders {
		w.err = errors.Join(w.err, a.Close())
	}
	return w.err
}

// id returns the next of identifiers.
func id(next *int64) int64 {
	*next++
	return *next - 1
}

// newUUID is what a table or schema may be known by elsewhere.
func newUUID() duckdb.UUID { return duckdb.UUID(uuid.New()) }

// table adds a table with its columns and files.
func (w *writer) table(t lake.Table) {
	table, mapping := id(&w.next), id(&w.next)
	w.add("ducklake_table", table, newUUID(), full, nil, mainID, t.Name, t.Name+"/", true)
	w.add("ducklake_tag", table, full, nil, "comment", t.Doc)
	w.add("ducklake_schema_versions", full, full, table)
	w.changes = append(w.changes, fmt.Sprintf(`created_table:"%s"."%s"`, mainName, t.Name))
	// The files name their columns, and do not number them.
	w.add("ducklake_column_mapping", mapping, table, "map_by_name")
	for i, c := range t.Columns {
		of, ok := types[c.Type]
		if !ok && w.err == nil {
			w.err = fmt.Errorf("%s.%s: the format has no type %s", t.Name, c.Name, c.Type)
		}
		column := int64(i + 1)
		w.add("ducklake_column", column, full, nil, table, column, c.Name, of, nil, nil, true, nil, "literal", nil)
		w.add("ducklake_column_tag", table, column, full, nil, "comment", c.Doc)
		w.add("ducklake_name_mapping", mapping, int64(i), c.Name, column, nil, false)
		w.add("ducklake_table_column_stats", table, column, true, nil, nil, nil, nil)
	}
	var rows, bytes int64
	for i, f := range t.Files {
		file := id(&w.nextFile)
		w.add("ducklake_data_file", file, table, full, nil, int64(i), f.Path, false, "parquet", f.Rows, f.Bytes, nil, rows, nil, nil, mapping, nil)
		w.files++
		rows += f.Rows
		bytes += f.Bytes
		if d := f.Deletes; d != nil {
			w.add("ducklake_delete_file", id(&w.nextFile), table, full, nil, file, d.Path, false, "parquet", d.Rows, d.Bytes, nil, nil, nil)
		}
	}
	if len(t.Files) > 0 {
		w.changes = append(w.changes, fmt.Sprintf("inserted_into_table:%d", table))
	}
	w.add("ducklake_table_stats", table, rows, rows, bytes)
}

// finish adds what is said of all tables.
func (w *writer) finish(base string) {
	w.add("ducklake_schema", mainID, newUUID(), empty, nil, mainName, mainName+"/", true)
	w.add("ducklake_snapshot", empty, w.now, int64(0), int64(1), int64(0))
	w.add("ducklake_snapshot_changes", empty, `created_schema:"`+mainName+`"`, nil, nil, nil)
	w.add("ducklake_snapshot", full, w.now, int64(1), w.next, w.nextFile)
	w.add("ducklake_snapshot_changes", full, strings.Join(w.changes, ","), nil, nil, nil)
	for _, v := range [][2]string{{"version", "1.0"}, {"created_by", "stackmill"}, {"data_path", base + "/"}, {"encrypted", "false"}} {
		w.add("ducklake_metadata", v[0], v[1], nil, nil)
	}
}
