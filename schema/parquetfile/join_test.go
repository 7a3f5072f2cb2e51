package parquetfile

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
)

// Rows of every type, and missing ones, are the same file whether they come one by one or
// all at once; those that come one by one do not wait one by one.
func TestJoin(t *testing.T) {
	const rows = 4*fewRows + 7
	table := &schema.Table{Name: "joined", Columns: []schema.Column{
		{Name: "experiment_id", Type: schema.Label},
		{Name: "wide", Type: schema.Int64, Null: true},
		{Name: "narrow", Type: schema.Int32},
		{Name: "label", Type: schema.Label},
		{Name: "rare", Type: schema.Label, Null: true}, // batches without any have no labels
		{Name: "text", Type: schema.String, Null: true},
		{Name: "truth", Type: schema.Bool, Null: true},
		{Name: "time", Type: schema.Time},
	}}
	file := func(each int) (content []byte, most int) {
		var out bytes.Buffer
		w, err := New(&out, table, Thorough)
		if err != nil {
			t.Fatal(err)
		}
		add := func(_ *schema.Table, b arrow.RecordBatch) error {
			err := w.Write(b)
			most = max(most, len(w.pending))
			return err
		}
		for from := 0; from < rows; from += each {
			r := schema.NewRows(table, "one", add)
			for i := from; i < min(rows, from+each); i++ {
				wide, rare, text, truth := any(int64(i*i)), any(nil), any(fmt.Sprint("text ", i/3)), any(i%2 == 0)
				if i%100 > 90 {
					rare = fmt.Sprint("rare ", i%3)
				}
				if i%5 == 0 {
					wide, text = nil, nil
				}
				if i%7 == 0 {
					truth = nil
				}
				r.Append(wide, int32(-i), fmt.Sprint("label ", i%11), rare, text, truth, arrow.Timestamp(i))
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes(), most
	}
	whole, _ := file(rows)
	for _, each := range []int{1, 3, fewRows - 1, fewRows} {
		content, most := file(each)
		if !bytes.Equal(content, whole) {
			t.Errorf("%d rows at a time: another file than all at once", each)
		}
		if most > 100 {
			t.Errorf("%d rows at a time: %d batches wait", each, most)
		}
	}
}

// Numbers that wait for long take no more bytes than they need: those of few rows at a
// time, and all of function_rollup.
func TestPacked(t *testing.T) {
	for _, test := range []struct {
		table       *schema.Table
		rows, times int
	}{{schema.FunctionValues, 10, joined}, {schema.FunctionRollup, fewRows, 1}} {
		w, err := New(io.Discard, test.table, Quick)
		if err != nil {
			t.Fatal(err)
		}
		for range test.times {
			r := schema.NewRows(test.table, "one", func(_ *schema.Table, b arrow.RecordBatch) error { return w.Write(b) })
			for range test.rows {
				for _, c := range test.table.Columns[1:] {
					switch c.Type {
					case schema.Int64:
						r.Int64(1 << 40)
					case schema.Int32:
						r.Int32(1 << 20)
					case schema.Bool:
						r.Append(true)
					default:
						r.Label(0)
					}
				}
			}
			for _, c := range test.table.Columns {
				if c.Type == schema.Label && c.Name != "experiment_id" {
					r.Labels(c.Name, "label")
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		bytes := 0
		for _, k := range w.pending {
			for _, column := range k.columns {
				if column.DataType().ID() == arrow.BOOL { // a bit each, whatever they are
					continue
				}
				for _, b := range column.Data().Buffers() {
					if b != nil {
						bytes += b.Len()
					}
				}
			}
		}
		if bytes > 0 {
			t.Errorf("%s: %d bytes of %d rows that are all the same", test.table.Name, bytes, test.rows*test.times)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
