package export

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/pipeline/compact"
	"stackmill/queries"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// missing is the text for NULL in rows that are compared.
const missing = "(missing)"

// readers are programs that do not use stackmill's code. Each returns the rows of Parquet files as
// texts, times in RFC 3339.
var readers = map[string]func(t *testing.T, files []string) [][]string{
	"DuckDB":    plainDuckDB,
	"hyparquet": hyparquet,
	"arrow-go":  arrowGo,
}

// TestTablesAreTheirFiles checks that any reader finds a table's rows in its files. Only commits have
// a recording's path, the time of its ingest and, if it was not recorded, the start of recording.
func TestTablesAreTheirFiles(t *testing.T) { compareFiles(t, store.Store) }

// The same holds after experiments were labeled, deleted, summarized and ingested again, once
// compact has removed rows that do not count.
func TestTablesStayTheirFiles(t *testing.T) {
	dir := t.TempDir()
	if err := corpus.Unpack(filepath.Join("..", "..", "..", "testdata", "gprofng", "experiments.tar.gz"), dir); err != nil {
		t.Fatal(err)
	}
	options := pipeline.Options{Store: filepath.Join(dir, "store"), Cache: filepath.Join(dir, "cache")}
	ingest := func(names ...string) *queries.DB {
		t.Helper()
		var paths []string
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, "exp", name+".er"))
		}
		db, err := suite.Open(options, paths...)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	for _, names := range [][]string{{"cxx", "heap", "recur"}, {"sync", "io", "outline", "alias"}, {"threads", "signals"}} {
		ingest(names...).Close()
	}
	contents, err := storedir.ReadContents(options.Store)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for _, b := range contents.Batches {
		for e := range b.Visible {
			ids[e.Experiment] = e.ExperimentID
		}
	}
	err = errors.Join(
		contents.Label(storedir.Labels{Experiments: []string{ids["io.er"]}, Set: map[string]string{"variant": "base"}}, "test"),
		contents.Delete([]string{ids["heap.er"], ids["alias.er"]}, storedir.Forgotten, "test"),
		contents.Delete([]string{ids["sync.er"]}, storedir.Summary, "test"))
	if err != nil {
		t.Fatal(err)
	}
	options.Forgotten = true
	ingest("heap").Close()
	purge(t, options.Store)
	compareFiles(t, options.Store)
}

// The same holds after resymbolize.
func TestResymbolizedTablesAreTheirFiles(t *testing.T) {
	dir := t.TempDir()
	if err := corpus.Symbols(dir); err != nil {
		t.Fatal(err)
	}
	options := pipeline.Options{Store: filepath.Join(dir, "store"), Cache: filepath.Join(dir, "cache"), SymFS: t.TempDir(), PerfMaps: filepath.Join(dir, "maps")}
	if _, err := suite.Ingest(options, filepath.Join(dir, "exp"), filepath.Join(dir, "perf")); err != nil {
		t.Fatal(err)
	}
	options.SymFS, options.DebugDirs, options.Jobs = filepath.Join(dir, "symfs"), []string{}, 2
	results, err := pipeline.Resymbolize(t.Context(), options, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, r := range results {
		if r.Status != pipeline.Unchanged {
			changed++
		}
	}
	if changed < 10 {
		t.Fatalf("%d experiments were changed", changed)
	}
	purge(t, options.Store)
	compareFiles(t, options.Store)
}

// purge compacts a store until no file has rows that do not count.
func purge(t *testing.T, store string) {
	t.Helper()
	options := compact.Options{Store: store, TargetSize: compact.DefaultSize, Memory: 1 << 30, Jobs: 2, Purge: true}
	if _, err := compact.Run(t.Context(), options); err != nil {
		t.Fatal(err)
	}
}

// compareFiles compares the tables of a store with its files, all of whose rows count.
func compareFiles(t *testing.T, dir string) {
	t.Helper()
	db, err := queries.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sums, err := db.Texts(t.Context(), "SELECT experiment_id FROM experiments WHERE status = 'summary'")
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, table := range schema.Tables {
		files, err := filepath.Glob(filepath.Join(dir, "tables", table.Name, "*.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			continue
		}
		tables++
		columns := make([]string, len(table.Columns))
		for i, c := range table.Columns {
			if columns[i] = text(c); table == schema.Experiments && c.Name == "started" { // files have the recorded start
				columns[i] = "IF(started_from = 'recorded', " + columns[i] + ", NULL)"
			}
		}
		compared := func(rows [][]string) [][]string {
			if table == schema.Experiments { // the view has the status of summaries
				for _, row := range rows {
					if slices.Contains(sums, row[table.Index("experiment_id")]) {
						row[table.Index("status")] = storedir.Summary
					}
				}
			}
			return sorted(rows)
		}
		want := compared(tableRows(t, db.DB, "SELECT "+strings.Join(columns, ", ")+" FROM "+table.Name))
		for name, read := range readers {
			if diff := gocmp.Diff(want, compared(read(t, files))); diff != "" {
				t.Errorf("%s, %d rows: -SQL +%s\n%.2000s", table.Name, len(want), name, diff)
			}
		}
	}
	if tables < 30 {
		t.Errorf("%d tables were compared", tables)
	}
}

// text returns SQL for a column's values as texts.
func text(c schema.Column) string {
	if c.Type == schema.Time {
		return `strftime(timezone('UTC', "` + c.Name + `"), '%Y-%m-%dT%H:%M:%S.%gZ')`
	}
	return `"` + c.Name + `"::VARCHAR`
}

// tableRows returns the rows of a query, all of whose columns are texts.
func tableRows(t *testing.T, db *sql.DB, query string) (list [][]string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, to := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range to {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(columns))
		for i, v := range values {
			if row[i] = v.String; !v.Valid {
				row[i] = missing
			}
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func sorted(rows [][]string) [][]string {
	slices.SortFunc(rows, slices.Compare)
	return rows
}

func plainDuckDB(t *testing.T, files []string) [][]string {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("SET TimeZone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	table := schema.ByName(filepath.Base(filepath.Dir(files[0])))
	var columns []string
	from := "read_parquet([" + queries.Quote(files...) + "])"
	for _, described := range tableRows(t, db, "SELECT column_name FROM (DESCRIBE FROM "+from+")") {
		columns = append(columns, text(table.Columns[table.Index(described[0])]))
	}
	return tableRows(t, db, "SELECT "+strings.Join(columns, ", ")+" FROM "+from)
}

func hyparquet(t *testing.T, files []string) (rows [][]string) {
	for d := json.NewDecoder(bytes.NewReader(node(t, "parquet.mjs", files...))); d.More(); {
		var values []*string
		if err := d.Decode(&values); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(values))
		for i, v := range values {
			if row[i] = missing; v != nil {
				row[i] = *v
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func arrowGo(t *testing.T, files []string) (rows [][]string) {
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		table, err := pqarrow.ReadTable(t.Context(), f, nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		defer table.Release()
		for batches := array.NewTableReader(table, 0); batches.Next(); {
			batch := batches.RecordBatch()
			for n := range int(batch.NumRows()) {
				row := make([]string, batch.NumCols())
				for i, c := range batch.Columns() {
					row[i] = valueOf(c, n)
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func valueOf(c arrow.Array, n int) string {
	switch c := c.(type) {
	case *array.Timestamp:
		if c.IsValid(n) {
			return c.Value(n).ToTime(arrow.Microsecond).UTC().Format("2006-01-02T15:04:05.000Z")
		}
	default:
		if c.IsValid(n) {
			return c.ValueStr(n)
		}
	}
	return missing
}

// The query in docs/store.md has the sums of the view, in an engine that only sees the files, if
// every file counts.
func TestStorePageQuery(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "store.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, query, _ := strings.Cut(string(page), "\n```sql\n")
	query, _, found := strings.Cut(query, "\n```\n")
	if !found {
		t.Fatal("docs/store.md has no query")
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	query = strings.ReplaceAll(query, "'store/", "'"+filepath.ToSlash(store.Store)+"/")
	got := tableRows(t, db, "SELECT name, ns::VARCHAR FROM ("+query+")")
	want := tableRows(t, store.DB, "SELECT function, sum(exclusive)::VARCHAR FROM function_metrics WHERE metric = 'totalcpu' AND mode = 'user' GROUP BY ALL")
	if diff := gocmp.Diff(sorted(want), sorted(got)); diff != "" || len(want) < 20 {
		t.Errorf("%d functions: -view +page\n%.2000s", len(want), diff)
	}
}
