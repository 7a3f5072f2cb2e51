package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPrintedRowsReadBack prints rows of any text and reads them with the
// standard readers.
func TestPrintedRowsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 4).Draw(t, "columns")
		fields := make([]field, columns)
		for i := range fields {
			fields[i].name = string(rune('a' + i))
		}
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching(`[ -~\n\tä€<>"]*`), columns, columns), 0, 5).Draw(t, "rows")
		print := func(format string) *bytes.Buffer {
			var out bytes.Buffer
			p := (&app{stdout: &out}).newPrinter(format)
			if err := p.header(fields); err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				values := make([]any, columns)
				for i := range row {
					values[i] = row[i]
				}
				if err := p.row(values); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.close(); err != nil {
				t.Fatal(err)
			}
			return &out
		}

		records, err := csv.NewReader(print("csv")).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, append([][]string{}, records[1:]...)); diff != "" {
			t.Errorf("csv (-printed +read):\n%s", diff)
		}
		var objects []map[string]string
		if err := json.Unmarshal(print("json").Bytes(), &objects); err != nil {
			t.Fatal(err)
		}
		for n, object := range objects {
			for i, f := range fields {
				if object[f.name] != rows[n][i] {
					t.Errorf("json: row %d column %s is %q, printed %q", n, f.name, object[f.name], rows[n][i])
				}
			}
		}
		if len(objects) != len(rows) {
			t.Errorf("json: %d objects of %d rows", len(objects), len(rows))
		}
	})
}

// On a terminal, CSV is escaped as tables are.
func TestEscapedCSV(t *testing.T) {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	p := &csvPrinter{out: w, w: csv.NewWriter(w), escape: true}
	if err := errors.Join(p.header([]field{{name: "a\x1b"}}), p.row([]any{"b\u202e\n"}), p.close()); err != nil {
		t.Fatal(err)
	}
	if want := `a\x1b` + "\n" + `b\u202e\x0a` + "\n"; out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
}
