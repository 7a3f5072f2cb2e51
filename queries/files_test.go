package queries

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/schema/parquetfile"
)

// samplesFile writes rows of perf_samples in which every encoding occurs.
func samplesFile(t *testing.T, name string, n int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := parquetfile.New(f, schema.PerfSamples, parquetfile.Quick)
	if err != nil {
		t.Fatal(err)
	}
	rows := schema.NewRows(schema.PerfSamples, "0123456789abcdef", func(_ *schema.Table, b arrow.RecordBatch) error { return w.Write(b) })
	rows.Labels("event", "one", "two", "three")
	for i := range int64(n) {
		rows.Int64(i).Label(int(i % 3)).Int64(i % 300 * 1e12)
		if i%5 == 0 {
			rows.Null()
		} else {
			rows.Int64(int64(uint64(i) * 0x9e3779b97f4a7c15 >> 1))
		}
		rows.Int64(i % 7 / 6).Null().Int64(i * i).Int64(0).Null().Null().Null()
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// DuckDB reads every encoding, and finds bounds of each column of each row group.
func TestFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.parquet")
	const n = parquetfile.RowGroupRows + 1000
	samplesFile(t, name, n)
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, test := range []struct{ what, query string }{
		{"wrong rows", `SELECT count(*) FROM 'FILE' WHERE NOT (experiment_id = '0123456789abcdef' AND event = ['one', 'two', 'three'][sample % 3 + 1]
			AND value = sample % 300 * 1000000000000 AND (data_address IS NULL) = (sample % 5 = 0) AND weight = sample % 7 // 6 AND data_source IS NULL AND physical_address = sample * sample)`},
		{"missing rows", fmt.Sprintf(`SELECT %d - count(DISTINCT sample) FROM 'FILE'`, n)},
		{"columns without bounds", `SELECT count(*) FROM parquet_metadata('FILE') WHERE stats_null_count IS NULL OR (stats_min_value IS NULL OR stats_max_value IS NULL) AND path_in_schema NOT IN ('data_source', 'parallelism', 'wall_ns', 'latency_ns')`},
		{"lacking encodings", `SELECT 3 - count(DISTINCT split_part(encodings, ',', 1)) FROM parquet_metadata('FILE')`},
	} {
		var found int
		if err := db.QueryRow(strings.ReplaceAll(test.query, "FILE", name)).Scan(&found); err != nil || found != 0 {
			t.Errorf("%d %s, %v", found, test.what, err)
		}
	}
}
