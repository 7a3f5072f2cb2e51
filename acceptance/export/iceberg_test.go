package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/queries"
	"stackmill/queries/lake"
	"stackmill/queries/lake/iceberg"
	"stackmill/schema"
)

// content is what a reader finds in a table: its rows, and of each column the sum of hashes of
// its values.
type content struct {
	Table   string
	Rows    int64
	Columns map[string]int64
}

// icebergReader builds the program that reads tables as iceberg-go does.
var icebergReader = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "stackmill-iceberg-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-C", filepath.Join("testdata", "iceberg"), "-o", filepath.Join(dir, "iceberg"))
	build.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir), errors.New(string(out)))
	}
	return filepath.Join(dir, "iceberg"), nil
})

// readIceberg reads all tables of a lake as iceberg-go does; those of some names as they were in
// their oldest snapshot.
func readIceberg(t *testing.T, folder string, old ...string) map[string]content {
	t.Helper()
	program, err := icebergReader()
	if err != nil && strings.Contains(err.Error(), "GOPROXY=off") {
		t.Skip("no iceberg-go: run go mod download in acceptance/export/testdata/iceberg")
	}
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, append([]string{folder, lake.Namespace}, old...)...)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.Bytes())
	}
	return contents(t, out)
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

// inSQL is what SQL finds in the tables of a lake: the store's own, or views.
func inSQL(t *testing.T, db *queries.DB, tables []lake.Table) map[string]content {
	t.Helper()
	all := map[string]content{}
	for _, table := range tables {
		c := content{Table: table.Name, Columns: map[string]int64{}}
		from := `"` + table.Name + `"`
		if known := schema.ByName(table.Name); known != nil && (known.Links != nil || known.FileOnly != nil) { // SQL shows other columns
			var files []string
			for _, f := range table.Files {
				files = append(files, f.Local)
			}
			from = "read_parquet([" + queries.Quote(files...) + "])"
		}
		sums, to := []string{"count(*)"}, []any{&c.Rows}
		values := make([]int64, len(table.Columns))
		for i, column := range table.Columns {
			value := fmt.Sprintf(`"%s"::VARCHAR`, column.Name)
			if strings.HasPrefix(column.Type, "TIMESTAMP") {
				value = fmt.Sprintf(`epoch_us("%s")::VARCHAR`, column.Name)
			}
			sums = append(sums, fmt.Sprintf("coalesce(sum(('0x' || left(md5(coalesce(%s, 'null')), 8))::BIGINT), 0)::BIGINT", value))
			to = append(to, &values[i])
		}
		if err := db.QueryRowContext(t.Context(), "SELECT "+strings.Join(sums, ", ")+" FROM "+from).Scan(to...); err != nil {
			t.Fatalf("%s: %v", table.Name, err)
		}
		for i, column := range table.Columns {
			if c.Rows > 0 {
				c.Columns[column.Name] = values[i]
			}
		}
		all[table.Name] = c
	}
	return all
}

// export brings a lake up to date with a store.
func exportIceberg(t *testing.T, db *queries.DB, folder string, o lake.Options) ([]lake.Table, iceberg.Change) {
	t.Helper()
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
	if _, err := l.Finish([]string{iceberg.Format}); err != nil {
		t.Fatal(err)
	}
	return tables, c
}

// iceberg-go reads in all tables of a lake what SQL shows.
func TestIceberg(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "lake")
	o := lake.Options{Keep: time.Hour, Views: []string{"metric_totals"}}
	tables, c := exportIceberg(t, store, folder, o)
	if c.Tables != len(tables) || c.Added == 0 {
		t.Errorf("%+v", c)
	}
	if diff := gocmp.Diff(inSQL(t, store, tables), readIceberg(t, folder)); diff != "" {
		t.Errorf("-SQL +iceberg-go\n%s", diff)
	}
	if _, again := exportIceberg(t, store, folder, o); again != (iceberg.Change{}) {
		t.Errorf("nothing has changed, but the export made %+v", again)
	}
}
