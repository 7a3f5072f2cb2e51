package export

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/queries"
)

// A reader in JavaScript finds in the tables' files what the SQL engine does.
func TestParquetInJavaScript(t *testing.T) {
	for _, table := range []string{"functions", "function_facts", "function_values", "stack_tree", "recorded_stacks", "samples", "metrics", "segments", "locations"} {
		files, err := filepath.Glob(filepath.Join(store.Store, "tables", table, "*.parquet"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", table, err)
		}
		var got, want [][]*string
		for d := json.NewDecoder(bytes.NewReader(node(t, "parquet.mjs", files[0]))); d.More(); {
			var row []*string
			if err := d.Decode(&row); err != nil {
				t.Fatal(err)
			}
			got = append(got, row)
		}
		rows, err := store.QueryContext(t.Context(), "SELECT COLUMNS(*)::VARCHAR FROM "+queries.ReadParquet(files[:1]))
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		columns, _ := rows.Columns()
		for rows.Next() {
			row, to := make([]*string, len(columns)), make([]any, len(columns))
			for i := range row {
				to[i] = &row[i]
			}
			if err := rows.Scan(to...); err != nil {
				t.Fatal(err)
			}
			want = append(want, row)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(got, want); diff != "" || len(want) == 0 {
			t.Errorf("%s, %d rows: -hyparquet +DuckDB\n%.2000s", table, len(want), diff)
		}
	}
}
