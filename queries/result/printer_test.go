package result

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPrintedRowsReadBack prints rows of any text and reads them with the
// standard readers.
func TestPrintedRowsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 4).Draw(t, "columns")
		fields := make([]Field, columns)
		for i := range fields {
			fields[i].Name = string(rune('a' + i))
		}
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching(`[ -~\n\tä€<>"]*`), columns, columns), 0, 5).Draw(t, "rows")
		print := func(format func(io.Writer) Printer) *bytes.Buffer {
			var out bytes.Buffer
			p := format(&out)
			if err := p.Header(fields); err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				values := make([]any, columns)
				for i := range row {
					values[i] = row[i]
				}
				if err := p.Row(values); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			return &out
		}

		records, err := csv.NewReader(print(func(w io.Writer) Printer { return CSV(w, nil) })).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, append([][]string{}, records[1:]...)); diff != "" {
			t.Errorf("csv (-printed +read):\n%s", diff)
		}
		var objects []map[string]string
		if err := json.Unmarshal(print(JSON).Bytes(), &objects); err != nil {
			t.Fatal(err)
		}
		for n, object := range objects {
			for i, f := range fields {
				if object[f.Name] != rows[n][i] {
					t.Errorf("json: row %d column %s is %q, printed %q", n, f.Name, object[f.Name], rows[n][i])
				}
			}
		}
		if len(objects) != len(rows) {
			t.Errorf("json: %d objects of %d rows", len(objects), len(rows))
		}
	})
}
