// Package ducklake describes the tables of a lake in DuckLake's format: a DuckDB file with the catalog tables of
// version 1.0 of the specification (ducklake.select/docs). They list the files of each table. The lake is read-only
// for others, because each export replaces the file.
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

// File is the name of the catalog file in the folder of a lake.
const File = lake.Namespace + ".ducklake"

// catalog is SQL that creates all tables of the specification.
//
//go:embed catalog.sql
var catalog string

// types maps lake.Types to the names of types in DuckLake's specification ("Data Types").
var types = map[string]string{"VARCHAR": "varchar", "BIGINT": "int64", "INTEGER": "int32", "BOOLEAN": "boolean", "DOUBLE": "float64", "TIMESTAMP WITH TIME ZONE": "timestamptz"}

// Update replaces the catalog file in the folder of a lake. It returns how many data files the catalog lists.
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

// remove deletes a DuckDB file and its write-ahead log, if they exist.
func remove(path string) error {
	for _, p := range []string{path, path + ".wal"} {
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// write writes the catalog file. base is the URI under which readers find the lake's folder.
func write(ctx context.Context, path, base string, tables []lake.Table) (files int, err error) {
	if strings.Contains(path, "?") { // DuckDB would put its write-ahead log in another folder
		return 0, fmt.Errorf("%s: the SQL engine cannot write below a folder with a \"?\" in its name (rename it)", filepath.Dir(path))
	}
	connector, err := duckdb.NewConnector("", nil) // ATTACH instead of a path here, which would be parsed as a URL
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
			w.addTable(t)
		}
		w.addLake(base)
		files = w.files
		return w.close()
	})
	return files, err
}

// writer fills the tables of a catalog. The lake gets two snapshots: one when it is empty, and one with all files.
type writer struct {
	conn      driver.Conn
	appenders map[string]*duckdb.Appender // name of a catalog table -> its appender
	now       time.Time
	next      int64 // the next id of a table or mapping
	nextFile  int64
	files     int // number of data files
	changes   []string
	err       error // the first error
}

// The ids of the snapshots and of the only schema.
const (
	emptySnapshot, fullSnapshot int64 = 0, 1
	mainID                      int64 = 0
	mainName                          = "main"
)

// add adds a row to a catalog table.
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

// close writes the remaining rows and returns all errors.
func (w *writer) close() error {
	for _, a := range w.appenders {
		w.err = errors.Join(w.err, a.Close())
	}
	return w.err
}

// takeID returns the next id and increments it.
func takeID(next *int64) int64 {
	*next++
	return *next - 1
}

func newUUID() duckdb.UUID { return duckdb.UUID(uuid.New()) }

// addTable adds the rows that describe a table, its columns and its files.
func (w *writer) addTable(t lake.Table) {
	table, mapping := takeID(&w.next), takeID(&w.next)
	w.add("ducklake_table", table, newUUID(), fullSnapshot, nil, mainID, t.Name, t.Name+"/", true)
	w.add("ducklake_tag", table, fullSnapshot, nil, "comment", t.Doc)
	w.add("ducklake_schema_versions", fullSnapshot, fullSnapshot, table)
	w.changes = append(w.changes, fmt.Sprintf(`created_table:"%s"."%s"`, mainName, t.Name))
	// Map columns by name, because the files have no field ids.
	w.add("ducklake_column_mapping", mapping, table, "map_by_name")
	for i, c := range t.Columns {
		of, ok := types[c.Type]
		if !ok && w.err == nil {
			w.err = fmt.Errorf("%s.%s: the format has no type %s", t.Name, c.Name, c.Type)
		}
		column := int64(i + 1)
		w.add("ducklake_column", column, fullSnapshot, nil, table, column, c.Name, of, nil, nil, true, nil, "literal", nil)
		w.add("ducklake_column_tag", table, column, fullSnapshot, nil, "comment", c.Doc)
		w.add("ducklake_name_mapping", mapping, int64(i), c.Name, column, nil, false)
		w.add("ducklake_table_column_stats", table, column, true, nil, nil, nil, nil)
	}
	var rows, bytes int64
	for i, f := range t.Files {
		file := takeID(&w.nextFile)
		w.add("ducklake_data_file", file, table, fullSnapshot, nil, int64(i), f.Path, false, "parquet", f.Rows, f.Bytes, nil, rows, nil, nil, mapping, nil)
		w.files++
		rows += f.Rows
		bytes += f.Bytes
		if d := f.Deletes; d != nil {
			w.add("ducklake_delete_file", takeID(&w.nextFile), table, fullSnapshot, nil, file, d.Path, false, "parquet", d.Rows, d.Bytes, nil, nil, nil)
		}
	}
	if len(t.Files) > 0 {
		w.changes = append(w.changes, fmt.Sprintf("inserted_into_table:%d", table))
	}
	w.add("ducklake_table_stats", table, rows, rows, bytes)
}

// addLake adds the rows that describe the whole lake.
func (w *writer) addLake(base string) {
	w.add("ducklake_schema", mainID, newUUID(), emptySnapshot, nil, mainName, mainName+"/", true)
	w.add("ducklake_snapshot", emptySnapshot, w.now, int64(0), int64(1), int64(0))
	w.add("ducklake_snapshot_changes", emptySnapshot, `created_schema:"`+mainName+`"`, nil, nil, nil)
	w.add("ducklake_snapshot", fullSnapshot, w.now, int64(1), w.next, w.nextFile)
	w.add("ducklake_snapshot_changes", fullSnapshot, strings.Join(w.changes, ","), nil, nil, nil)
	for _, v := range [][2]string{{"version", "1.0"}, {"created_by", "stackmill"}, {"data_path", base + "/"}, {"encrypted", "false"}} {
		w.add("ducklake_metadata", v[0], v[1], nil, nil)
	}
}
