package parquetfile

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
)

// Values of every type, and missing ones, give the same file whether rows come one by one or all at
// once; single rows are joined while they wait.
func TestJoin(t *testing.T) {
	const rows = 4*fewRows + 7
	table := &schema.Table{Name: "joined", Columns: []schema.Column{
		{Name: "experiment_id", Type: schema.Label},
		{Name: "wide", Type: schema.Int64, Null: true},
		{Name: "narrow", Type: schema.Int32},
		{Name: "label", Type: schema.Label},
		{Name: "rare", Type: schema.Label, Null: true}, // a batch without a value has no labels
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
