package rowreader

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
	"stackmill/schema/parquetfile"
)

// A reader finds the rows of each experiment, and any part of them, wherever other rows or the
// borders of row groups are.
func TestReader(t *testing.T) {
	var file bytes.Buffer
	w, err := parquetfile.New(&file, schema.Samples, parquetfile.Thorough)
	if err != nil {
		t.Fatal(err)
	}
	rows := func(id string, from, n int) {
		t.Helper()
		r := schema.NewRows(schema.Samples, id, func(_ *schema.Table, b arrow.RecordBatch) error { return w.Write(b) })
		r.Labels("kind", "clock", "heap")
		for i := from; i < from+n; i++ {
			r.Append(int64(i), []string{"clock", "heap"}[i%2], int32(1), int64(i%7), int32(0), int64(10*i), int32(i), int32(0), "")
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	count := map[string]int{"a": 5, "b": parquetfile.RowGroupRows*2 + 11, "c": 3, "d": 40}
	rows("a", 0, 5)
	rows("b", 0, count["b"])
	rows("c", 0, 2)
	rows("d", 0, 40)
	rows("c", 2, 1)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := Open(bytes.NewReader(file.Bytes()), schema.Samples, "time_ns", "kind")
	if err != nil {
		t.Fatal(err)
	}
	read := func(id string, from, n int64) (got []string) {
		t.Helper()
		for all := reader.Rows(id, from, n); ; {
			b, err := all.Next()
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				return got
			}
			times := b.Column(0).(*array.Int64)
			for i := range times.Len() {
				got = append(got, fmt.Sprint(times.Value(i), b.Column(1).ValueStr(i)))
			}
			b.Release()
		}
	}
	for _, id := range []string{"d", "a", "b", "c", "e"} {
		var want []string
		for i := range count[id] {
			want = append(want, fmt.Sprint(int64(10*i), []string{"clock", "heap"}[i%2]))
		}
		for _, part := range [][2]int{{0, 1 << 40}, {0, 0}, {1, 2}, {4, 1}, {2, 1 << 40}, {parquetfile.RowGroupRows - 6, 3}, {parquetfile.RowGroupRows + 5, parquetfile.RowGroupRows}, {1 << 40, 1}} {
			from := min(part[0], len(want))
			to := min(from+part[1], len(want))
			if got := read(id, int64(part[0]), int64(part[1])); !slices.Equal(got, want[from:to]) {
				t.Errorf("%s, %d from %d on: %d rows", id, part[1], part[0], len(got))
			}
		}
	}
	if _, err := Open(bytes.NewReader(file.Bytes()), schema.Samples, "no_such"); err == nil {
		t.Error("a column that there is not")
	}
	if _, err := Open(bytes.NewReader(file.Bytes()[:file.Len()-9]), schema.Samples, "kind"); err == nil {
		t.Error("a cut file")
	}
}
