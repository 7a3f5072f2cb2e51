package queries

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/internal/lazyregexp"
	"stackmill/queries/result"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// Older reads a store of schema.OlderVersions. Files of the oldest of these versions lack rows that
// follow from others. So Older uses the views in the store's catalog, which the program of that
// version has made.
type Older struct {
	store string
	db    *sql.DB
	conn  *sql.Conn
	ids   map[[2]string]bool // batches and ids of the experiments in the catalog
}

// OpenOlder opens a store whose batches have a format of schema.OlderVersions. It fails if the
// catalog lacks one of their experiments.
func OpenOlder(ctx context.Context, store string, limits Limits, batches []*storedir.Batch) (*Older, error) {
	store, err := filepath.Abs(store)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(store, CatalogFile)
	files := []string{path}
	err = filepath.WalkDir(filepath.Join(store, storedir.TablesDir), func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() { // the views also read replaced batches
			files = append(files, file)
		}
		return err
	})
	if err == nil {
		err = storedir.IsRegular(path)
	}
	var db *sql.DB
	if err == nil {
		setup := []string{"ATTACH " + quote(path) + " AS older (READ_ONLY)"}
		db, err = connect(engineConfig{Limits: limits, files: files, locked: true}, setup, func(conn driver.ExecerContext) error {
			return run(conn, []string{"USE older"})
		})
	}
	o := &Older{store: store, db: db, ids: map[[2]string]bool{}}
	if err == nil {
		if o.conn, err = db.Conn(ctx); err == nil {
			err = errors.Join(o.relocate(ctx), o.readExperiments(ctx))
		}
	}
	if err == nil {
		for _, b := range batches {
			err = errors.Join(err, o.covers(b))
		}
	}
	if err != nil {
		_ = o.Close()
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("it is missing")
		}
		return nil, fmt.Errorf("%s, which is needed to read rows of an older store format: %w (query the store once with the program that wrote it)", path, err)
	}
	return o, nil
}

func (o *Older) Close() (err error) {
	if o.conn != nil {
		err = o.conn.Close()
	}
	if o.db != nil {
		err = errors.Join(err, o.db.Close())
	}
	return err
}

// storePath matches the path of the store in a macro of the catalog.
var storePath = lazyregexp.New(`''([^']*(?:''''[^']*)*)/tables/experiments/`)

// relocate makes the catalog's macros read the store at its current path.
func (o *Older) relocate(ctx context.Context) error {
	macros, err := recordsOf(ctx, o.conn, "SELECT function_name, macro_definition FROM duckdb_functions() WHERE database_name = 'older' AND function_type = 'table_macro' AND macro_definition LIKE '%/tables/%' ORDER BY function_name <> 'experiments_rows'")
	if err != nil {
		return err
	}
	var statements []string
	was, is := "", strings.ReplaceAll(literal.Replace(o.store), "'", "''''")
	for _, m := range macros {
		definition := m.Text("macro_definition")
		if found := storePath().FindStringSubmatch(definition); was == "" && found != nil {
			was = found[1]
		}
		if was != "" && was != is {
			statements = append(statements, "CREATE TEMP MACRO "+identifier(m.Text("function_name"))+"(used := true) AS TABLE "+strings.ReplaceAll(definition, was+"/tables/", is+"/tables/"))
		}
	}
	return execute(ctx, o.conn, statements...)
}

func (o *Older) readExperiments(ctx context.Context) error {
	names, err := recordsOf(ctx, o.conn, "SELECT batch, experiment_id FROM experiment_names")
	for _, n := range names {
		o.ids[[2]string{n.Text("batch"), n.Text("experiment_id")}] = true
	}
	return err
}

// covers returns an error unless the catalog has all visible experiments of a batch.
func (o *Older) covers(b *storedir.Batch) error {
	for e := range b.Visible {
		if !o.ids[[2]string{b.Batch, e.ExperimentID}] {
			return fmt.Errorf("it does not show experiment %s of batch %s", e.Experiment, b.Batch)
		}
	}
	return nil
}

// completed maps tables to the column that numbers their rows. Files of olderIncomplete lack rows
// or columns of these tables, which views add. Tables of values by mode are not listed.
var completed = map[*schema.Table]string{schema.Functions: "function_no", schema.Modules: "module_id", schema.Locations: "location", schema.TreeFrames: "frame"}

// Rows emits the rows of a table that belong to experiments of a batch, in the current format. They
// come in the order of the batch's file or, if views add rows, sorted by the columns of order.
func (o *Older) Rows(ctx context.Context, t *schema.Table, b *storedir.Batch, ids, order []string, emit func(arrow.RecordBatch) error) error {
	columns := mapped(t.Columns, func(c schema.Column) string {
		return fmt.Sprintf("(%s)::%s AS %s", olderValue(b.StoreVersion, t, c.Name), c.Type.SQL(), identifier(c.Name))
	})
	if !t.Summary {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(b.Summaries, id) })
	}
	visible := "experiment_id IN (" + Quote(append([]string{""}, ids...)...) + ")"
	has := func(t *schema.Table) int {
		return slices.IndexFunc(b.Files, func(f storedir.File) bool { return f.Table == t.Name })
	}
	file := func(t *schema.Table) string {
		return ReadParquet([]string{filepath.Join(o.store, filepath.FromSlash(b.Files[has(t)].Path))}, "file_row_number = true")
	}
	number, isCompleted := completed[t]
	var from string
	complete := b.StoreVersion != olderIncomplete // files have all rows
	switch {
	case isCompleted && !complete:
		from = t.Name + " WHERE " + visible + " ORDER BY experiment_id, " + number
	case t.Modes() != 0 && !complete:
		from = t.Name + " WHERE " + visible + " ORDER BY " + columnList(order)
	case has(t) < 0:
		return nil
	case t.Links != nil:
		from = file(t) + " SEMI JOIN (SELECT listing FROM " + file(t.Links) + " WHERE " + visible + ") USING (listing) ORDER BY file_row_number"
	case t.Has(schema.ListedIn): // only the first row of a list has the hash of its content
		from = fmt.Sprintf(`(SELECT * REPLACE (CASE WHEN row_number() OVER (PARTITION BY listing ORDER BY experiment_id, file_row_number) = 1 THEN content END AS content)
			FROM (SELECT * REPLACE (max(content) OVER (PARTITION BY listing) AS content) FROM %s) WHERE %s) ORDER BY experiment_id, file_row_number`, file(t), visible)
	default:
		from = file(t) + " WHERE " + visible + " ORDER BY experiment_id, file_row_number"
	}
	return result.Batches(ctx, o.conn, func(rows arrow.RecordBatch) error {
		declared, err := asDeclared(t, rows)
		if err != nil {
			return err
		}
		defer declared.Release()
		return emit(declared)
	}, "SELECT "+strings.Join(columns, ", ")+" FROM "+from)
}

// olderIncomplete is the version whose files lack rows and columns that views add.
const olderIncomplete = "14"

// newColumns lists columns that older versions do not have.
var newColumns = map[*schema.Table][]string{schema.PerfSamples: {"parallelism", "wall_ns", "latency_ns"}}

// olderValue is SQL for the value of a column, in a row of an older version.
func olderValue(version string, t *schema.Table, column string) string {
	switch bit := slices.Index(schema.Modes, column); {
	case slices.Contains(newColumns[t], column):
		return "NULL"
	case version != olderIncomplete:
	case bit >= 0:
		return fmt.Sprintf("modes & %d <> 0", 1<<bit)
	case t == schema.TreeFrames && (column == "user_location" || column == "expert_location"):
		return strings.TrimSuffix(column, "location") + "shown"
	}
	return identifier(column)
}

// asDeclared returns rows with the Arrow types that a table declares.
func asDeclared(t *schema.Table, rows arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, len(t.Columns))
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, c := range t.Columns {
		from := rows.Column(i)
		switch texts, isText := from.(*array.String); {
		case c.Type == schema.Label && isText:
			b := array.NewBuilder(memory.DefaultAllocator, c.Type.Arrow()).(*array.BinaryDictionaryBuilder)
			for row := range texts.Len() {
				if texts.IsNull(row) {
					b.AppendNull()
				} else if err := b.AppendString(texts.Value(row)); err != nil {
					return nil, err
				}
			}
			columns[i] = b.NewArray()
			b.Release()
		case from.DataType().ID() == c.Type.Arrow().ID(): // the time zone may differ
			data := array.NewData(c.Type.Arrow(), from.Len(), from.Data().Buffers(), nil, from.NullN(), from.Data().Offset())
			columns[i] = array.MakeFromData(data)
			data.Release()
		default:
			return nil, fmt.Errorf("%s.%s is %s", t.Name, c.Name, from.DataType())
		}
	}
	return array.NewRecordBatch(t.Arrow(), columns, rows.NumRows()), nil
}
