package export

import (
	"bytes"
	"database/sql"
	"encoding/json"
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

	"stackmill/queries"
	"stackmill/schema"
)

// missing represents a missing value in the rows that are compared.
const missing = "(missing)"

// readers are programs that know nothing of stackmill. Each returns the rows of Parquet files,
// the values as texts and times in RFC 3339.
var readers = map[string]func(t *testing.T, files []string) [][]string{
	"DuckDB":    plainDuckDB,
	"hyparquet": hyparquet,
	"arrow-go":  arrowGo,
}

// The rows of a table are the rows of its files, to any reader. Commits alone say where a
// recording was and when it came.
func TestTablesAreTheirFiles(t *testing.T) {
	compared := 0
	for _, table := range schema.Tables {
		files, err := filepath.Glob(filepath.Join(store.Store, "tables", table.Name, "*.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			continue
		}
		compared++
		columns := make([]string, len(table.Columns))
		for i, c := range table.Columns {
			columns[i] = text(c)
		}
		want := sorted(tableRows(t, store.DB, "SELECT "+strings.Join(columns, ", ")+" FROM "+table.Name))
		for name, read := range readers {
			if diff := gocmp.Diff(want, sorted(read(t, files))); diff != "" {
				t.Errorf("%s, %d rows: -SQL +%s\n%.2000s", table.Name, len(want), name, diff)
			}
		}
	}
	if compared < 30 {
		t.Errorf("%d tables were compared", compared)
	}
}

// text is the SQL of a column's values as texts.
func text(c schema.Column) string {
	if c.Type == schema.Time {
		return `strftime(timezone('UTC', "` + c.Name + `"), '%Y-%m-%dT%H:%M:%S.%gZ')`
	}
	return `"` + c.Name + `"::VARCHAR`
}

// tableRows returns the rows of a query of texts.
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

// The query that docs/store.md prints has the sums of the view, in an engine that knows nothing of
// the store, where every file counts.
func TestStorePageQuery(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "store.md"))
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
