package queries

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"stackmill/schema/storedir"
)

// storeTable is a table of the catalog. Its content comes from the commits, for example where
// experiments were recorded and when they were ingested.
type storeTable struct {
	name  string
	types [][2]string // columns and their types
	rows  func(d *definitions, row func(values ...any))
}

// uncounted is the name of the table of experiments that a portion hides, or shows as a summary
// only.
const uncounted = "uncounted_experiments"

// storeTables are the tables of every catalog.
var storeTables = []storeTable{
	{"experiment_names", [][2]string{{"experiment_id", "VARCHAR"}, {"experiment", "VARCHAR"}, {"path", "VARCHAR"}, {"ingested", "TIMESTAMPTZ"}, {"summary", "BOOLEAN"}, {"batch", "VARCHAR"}, {"file_time", "TIMESTAMPTZ"}, {"labeled_start", "TIMESTAMPTZ"}}, nameRows},
	{"experiment_labels", [][2]string{{"experiment_id", "VARCHAR"}, {"label", "VARCHAR"}, {"value", "VARCHAR"}}, labelRows},
	{"batch_files", [][2]string{{"batch", "VARCHAR"}, {"stored", "VARCHAR"}, {"path", "VARCHAR"}, {"footer", "VARCHAR"}}, fileRows},
	{uncounted, [][2]string{{"portion", "INTEGER"}, {"experiment_id", "VARCHAR"}, {"summary", "BOOLEAN"}}, uncountedRows},
}

// fingerprintTable holds the fingerprint in a catalog's file.
const fingerprintTable = "catalog_fingerprint"

func nameRows(d *definitions, row func(values ...any)) {
	for _, e := range d.experiments {
		row(e.ExperimentID, e.Name, e.Path, e.Ingested.UTC(), e.Status == storedir.Summary, e.batch, orNull(e.FileTime), orNull(e.LabeledStart()))
	}
}

// orNull returns the time in UTC, or NULL for the zero time.
func orNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC()
}

func labelRows(d *definitions, row func(values ...any)) {
	for _, e := range d.experiments {
		for _, label := range slices.Sorted(maps.Keys(e.Labels)) {
			row(e.ExperimentID, label, e.Labels[label])
		}
	}
}

// fileRows calls row for each file of the batches: its batch, table, path relative to the store,
// and the checksum of its footer (empty in older commits).
func fileRows(d *definitions, row func(values ...any)) {
	for _, p := range d.portions {
		for _, b := range p.batches {
			for _, f := range b.Files {
				row(b.Batch, f.Table, f.Path, f.Footer)
			}
		}
	}
}

func uncountedRows(d *definitions, row func(values ...any)) {
	for _, p := range d.portions {
		if len(p.experiments(func(x visibility) bool { return x != nothing })) <= few { // its query names them
			continue
		}
		for _, id := range p.experiments(func(x visibility) bool { return x != everything }) {
			row(int32(p.number), id, p.counts[id] == summary)
		}
	}
}

// columns returns the SQL of a table's columns. The table of hidden experiments keeps the stored
// types, because its ids are compared with stored rows, not with rows of views.
func (t storeTable) columns(as columnForm) string {
	if t.name == uncounted {
		as = columnForm{}
	}
	return strings.Join(mapped(t.types, func(c [2]string) string { return as.cast(c[0], "NULL::"+c[1]) + " AS " + c[0] }), ", ")
}

// fill inserts the rows of the catalog's tables.
func (d *definitions) fill(conn driver.Conn, catalog string) error {
	for _, t := range storeTables {
		a, err := duckdb.NewAppender(conn, catalog, "main", t.name)
		if err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
		t.rows(d, func(values ...any) {
			row := make([]driver.Value, len(values))
			for i, v := range values {
				row[i] = v
			}
			err = errors.Join(err, a.AppendRow(row...))
		})
		if err = errors.Join(err, a.Close()); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	return nil
}

// fillBy is fill on a connection of package sql.
func (d *definitions) fillBy(conn *sql.Conn, catalog string) error {
	return conn.Raw(func(raw any) error { return d.fill(raw.(driver.Conn), catalog) })
}

// make defines and fills the catalog in an engine whose catalog is empty.
func (d *definitions) make(ctx context.Context, db *sql.DB) error {
	statements, err := d.all()
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if d.hasEvents() {
		statements = append(statements, replaceEvents(nil, unreadableEvents))
	}
	if err := execute(ctx, conn, statements...); err != nil {
		return &statementError{err}
	}
	if err = d.fillBy(conn, catalogName); err == nil && d.hasEvents() {
		_ = d.defineEvents(ctx, conn) // an error leaves the macro of unreadable events
	}
	return err
}
