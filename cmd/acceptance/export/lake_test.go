package export

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/pipeline/compact"
	"stackmill/queries"
	"stackmill/queries/lake"
	"stackmill/queries/lake/ducklake"
	"stackmill/queries/lake/iceberg"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// content is what a reader finds in a table: its number of rows, and per column the sum of its
// values' hashes.
type content struct {
	Table   string
	Rows    int64
	Columns map[string]int64
}

func contents(t *testing.T, lines []byte) map[string]content {
	t.Helper()
	all := map[string]content{}
	for d := json.NewDecoder(bytes.NewReader(lines)); d.More(); {
		var c content
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		all[c.Table] = c
	}
	return all
}

// querier is an SQL engine.
type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// sums returns the content of a FROM clause, by SQL.
func sums(t *testing.T, db querier, table, from string, columns []lake.Column) content {
	t.Helper()
	c := content{Table: table, Columns: map[string]int64{}}
	list, to := []string{"count(*)"}, []any{&c.Rows}
	values := make([]int64, len(columns))
	for i, column := range columns {
		value := fmt.Sprintf(`"%s"::VARCHAR`, column.Name)
		if strings.HasPrefix(strings.ToUpper(column.Type), "TIMESTAMP") {
			value = fmt.Sprintf(`epoch_us("%s")::VARCHAR`, column.Name)
		}
		list = append(list, fmt.Sprintf("coalesce(sum(('0x' || left(md5(coalesce(%s, 'null')), 8))::BIGINT), 0)::BIGINT", value))
		to = append(to, &values[i])
	}
	if err := db.QueryRowContext(t.Context(), "SELECT "+strings.Join(list, ", ")+" FROM "+from).Scan(to...); err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	for i, column := range columns {
		if c.Rows > 0 {
			c.Columns[column.Name] = values[i]
		}
	}
	return c
}

// inSQL returns the content of a lake's tables by SQL, without columns that only files have. For
// lists that experiments share, SQL has other columns than the lake: compareLists compares them.
func inSQL(t *testing.T, db *queries.DB, tables []lake.Table) map[string]content {
	t.Helper()
	all := map[string]content{}
	for _, table := range tables {
		from := `"` + table.Name + `"`
		columns := table.Columns
		if s := schema.ByName(table.Name); s != nil && s.Links != nil {
			from = local(table)
		}
		all[table.Name] = sums(t, db, table.Name, from, columns)
	}
	return all
}

// local returns a FROM clause for a table's files.
func local(t lake.Table) string {
	var files []string
	for _, f := range t.Files {
		files = append(files, f.Local)
	}
	return queries.ReadParquet(files)
}

// compareLists compares the lists that experiments share: SQL's rows with the joined tables of the
// lake.
func compareLists(t *testing.T, db *queries.DB, tables []lake.Table) {
	t.Helper()
	named := map[string]lake.Table{}
	for _, table := range tables {
		named[table.Name] = table
	}
	for _, s := range schema.Tables {
		if s.Links == nil {
			continue
		}
		var columns []lake.Column
		for _, c := range s.Shown() {
			columns = append(columns, lake.Column{Name: c.Name, Type: c.Type.SQL()})
		}
		joined := fmt.Sprintf("%s JOIN %s USING (%s, listing)", s.Links.Name, local(named[s.Name]), schema.ListedIn)
		if diff := gocmp.Diff(sums(t, db, s.Name, s.Wide(), columns), sums(t, db, s.Name, joined, columns)); diff != "" {
			t.Errorf("-SQL +joined\n%s", diff)
		}
		query := fmt.Sprintf("SELECT DISTINCT %s FROM %s", schema.ListedIn, local(named[s.Name]))
		if batches, err := db.Texts(t.Context(), query); err != nil || len(batches) != len(named[s.Name].Files) {
			t.Errorf("%d files of %s, of the batches %q: %v", len(named[s.Name].Files), s.Name, batches, err)
		}
	}
}

// exportLake brings a lake up to date with a store, in both formats.
func exportLake(t *testing.T, store, folder string, o lake.Options) ([]lake.Table, iceberg.Change) {
	t.Helper()
	db, err := queries.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	l, err := lake.Open(folder, o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tables, err := l.Tables(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	c, err := iceberg.Update(l, tables)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ducklake.Update(t.Context(), l, tables); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Finish([]string{iceberg.Format, ducklake.Format}); err != nil {
		t.Fatal(err)
	}
	return tables, c
}

// shown returns the content by SQL of the store's tables that are in a lake.
func shown(t *testing.T, store string, tables []lake.Table) map[string]content {
	t.Helper()
	db, err := queries.OpenWith(t.Context(), store, queries.Options{Unsafe: true}) // to read the lake's files
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	compareLists(t, db, tables)
	return inSQL(t, db, tables)
}

func compareLakes(t *testing.T, reader string, want, got map[string]content) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-SQL +%s\n%.3000s", reader, diff)
	}
}

// change changes the commits of a store.
func change(t *testing.T, store string, change func(*storedir.Contents) error) {
	t.Helper()
	c, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	if err := change(c); err != nil {
		t.Fatal(err)
	}
}

// mixed makes a store of recordings of all formats.
func mixed(t *testing.T) (at string) {
	t.Helper()
	at = filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(at, os.DirFS(store.Store)); err != nil {
		t.Fatal(err)
	}
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := suite.Ingest(pipeline.Options{Store: at}, filepath.Join(root, "testdata", "pprof")); err != nil {
		t.Fatal(err)
	}
	return at
}

// ids returns the identifiers of experiments by their names.
func ids(t *testing.T, store string, names ...string) (list []string) {
	t.Helper()
	db, err := queries.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, e := range db.Experiments() {
		if slices.Contains(names, e.Name) {
			list = append(list, e.ExperimentID)
		}
	}
	if len(list) != len(names) {
		t.Fatalf("%q: %d experiments", names, len(list))
	}
	return list
}

// A lake follows its store: readers find what SQL shows, whatever happens to experiments, and
// earlier states as long as files are kept.
func TestLake(t *testing.T) {
	store, folder := mixed(t), filepath.Join(t.TempDir(), "lake")
	o := lake.Options{Keep: time.Hour}
	tables, c := exportLake(t, store, folder, o)
	first := shown(t, store, tables)
	if c.Tables != len(first) || c.Added == 0 || c.Removed != 0 {
		t.Errorf("first: %+v", c)
	}
	follow := func(step string, o lake.Options) (map[string]content, iceberg.Change) {
		t.Helper()
		tables, c := exportLake(t, store, folder, o)
		want := shown(t, store, tables)
		compareLakes(t, "iceberg-go, "+step, want, readIceberg(t, folder))
		compareLakes(t, "DuckLake, "+step, want, readDuckLake(t, folder))
		for _, table := range tables {
			for _, f := range table.Files {
				if s := schema.ByName(table.Name); s != nil && lake.AsStored(s) && !strings.HasPrefix(f.Local, store) {
					t.Errorf("%s: %s is a copy", step, f.Local)
				}
			}
		}
		return want, c
	}
	if _, c := exportLake(t, store, folder, o); c != (iceberg.Change{}) {
		t.Errorf("nothing has changed, but %+v", c)
	}

	recordings := t.TempDir()
	if err := corpus.Perf(recordings); err != nil {
		t.Fatal(err)
	}
	if _, err := suite.Ingest(pipeline.Options{Store: store}, filepath.Join(recordings, "perf")); err != nil {
		t.Fatal(err)
	}
	change(t, store, func(c *storedir.Contents) error {
		return c.Delete(ids(t, store, "recur.er", "heap.er"), storedir.Forgotten, "")
	})
	change(t, store, func(c *storedir.Contents) error {
		return c.Delete(ids(t, store, "threads.er"), storedir.Summary, "")
	})
	change(t, store, func(c *storedir.Contents) error {
		return c.Label(storedir.Labels{Experiments: ids(t, store, "cxx.er"), Set: map[string]string{"night": "1"}}, "")
	})
	less, _ := follow("less and more", o)
	if less["heap_samples"].Rows >= first["heap_samples"].Rows || less["perf_samples"].Rows <= first["perf_samples"].Rows || less["labels"].Rows != 1 {
		t.Errorf("%d of %d heap samples, %d perf samples, %d labels", less["heap_samples"].Rows, first["heap_samples"].Rows, less["perf_samples"].Rows, less["labels"].Rows)
	}

	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := corpus.Unpack(filepath.Join(root, "testdata", "gprofng", "experiments.tar.gz"), recordings); err != nil {
		t.Fatal(err)
	}
	if _, err := suite.Ingest(pipeline.Options{Store: store, Forgotten: true}, filepath.Join(recordings, "exp", "recur.er")); err != nil {
		t.Fatal(err)
	}
	back, c := follow("back", o)
	if back["samples"].Rows <= less["samples"].Rows {
		t.Errorf("back: %+v", c)
	}

	s, err := compact.Run(t.Context(), compact.Options{Store: store, TargetSize: 256 << 20, Keep: time.Hour, Purge: true, Memory: 1 << 30, Jobs: 1})
	if err != nil || s.Merged == 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	merged, c := follow("merged", o)
	if c.Removed == 0 || merged["samples"].Rows != back["samples"].Rows {
		t.Errorf("merged: %+v", c)
	}
	for _, name := range []string{"samples", "function_values", "functions"} {
		if diff := gocmp.Diff(first[name], readIceberg(t, folder, name)[name]); diff != "" {
			t.Errorf("the first snapshot of %s: -then +now\n%s", name, diff)
		}
	}

	time.Sleep(2 * time.Millisecond) // the last snapshots become old enough to be removed
	exportLake(t, store, folder, lake.Options{})
	follow("kept no more", lake.Options{})
	left, err := os.ReadDir(filepath.Join(folder, lake.Namespace))
	if err != nil || len(left) == 0 {
		t.Fatal(left, err)
	}
	for _, table := range left {
		for dir, most := range map[string]int{"data": s.Written + 1, "metadata": 5} {
			files, err := os.ReadDir(filepath.Join(folder, lake.Namespace, table.Name(), dir))
			if err != nil || len(files) > most {
				t.Errorf("%s: %d files in %s are left: %v", table.Name(), len(files), dir, err)
			}
		}
	}
}

// A reader in JavaScript finds the tables and their files where the lake says.
func TestLakeInJavaScript(t *testing.T) {
	store, folder := mixed(t), filepath.Join(t.TempDir(), "lake")
	change(t, store, func(c *storedir.Contents) error {
		return c.Delete(ids(t, store, "recur.er"), storedir.Forgotten, "")
	})
	served := http.NewServeMux()
	served.Handle("/lake/", http.StripPrefix("/lake/", http.FileServer(http.Dir(folder))))
	served.Handle("/store/", http.StripPrefix("/store/", http.FileServer(http.Dir(store))))
	server := httptest.NewServer(served)
	defer server.Close()
	o := lake.Options{Location: server.URL + "/lake", Store: server.URL + "/store/", Keep: time.Hour}
	tables, _ := exportLake(t, store, folder, o)
	want := shown(t, store, tables)
	var urls []string
	for _, table := range tables {
		if len(table.Files) == 0 { // the reader refuses empty tables
			delete(want, table.Name)
			continue
		}
		urls = append(urls, o.Location+"/"+lake.Namespace+"/"+table.Name)
		for _, c := range table.Columns {
			if strings.HasPrefix(c.Type, "TIMESTAMP") { // it has milliseconds
				delete(want[table.Name].Columns, c.Name)
			}
		}
	}
	compareLakes(t, "icebird", want, contents(t, node(t, "iceberg.mjs", urls...)))
}
