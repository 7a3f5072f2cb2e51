package replay

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// eventFields fills in the descriptions of tracepoint fields, and a reader of the fields.
func (r *Recording) eventFields(tables schema.TableReader) error {
	columns := []string{"event", "system", "position", "field", "type", "code_offset", "size", "elements", "signed", "dynamic", "is_text"}
	err := schema.EachBatch(tables(schema.EventFormats, 0, schema.AllRows, columns...), func(c *schema.Columns) error {
		events, systems, positions, names, types := c.Texts(0), c.Texts(1), c.Int32s(2), c.Texts(3), c.Texts(4)
		offsets, sizes, elements := c.Int32s(5), c.Int32s(6), c.Int32s(7)
		flag := func(column, row int) bool { return c.Batch.Column(column).(*array.Boolean).Value(row) }
		for i := range c.N {
			r.EventFields = append(r.EventFields, decode.EventField{
				Event: events(i), System: systems(i), Position: int(positions[i]), Name: names(i), Type: types(i), Offset: int(offsets[i]),
				Size: int(sizes[i]), Elements: int(elements[i]), Signed: flag(8, i), Dynamic: flag(9, i), Text: flag(10, i),
			})
		}
		return nil
	})
	if len(r.EventFields) > 0 {
		r.Fields = &fieldReader{rows: tables(schema.EventFields, 0, schema.AllRows, "sample", "position", "number", "text")}
	}
	return err
}

// fieldReader reads the fields of samples in the order of the samples.
type fieldReader struct {
	rows  schema.RowReader
	batch *schema.Columns // nil before the first batch and after the last
	at    int             // index of the next row in the batch
	err   error
}

// Fields implements decode.FieldReader.
func (f *fieldReader) Fields(events arrow.RecordBatch, first int64, pass func(row, position int, v decode.FieldValue)) error {
	for end := first + events.NumRows(); f.sample() < end; f.at++ {
		v := decode.FieldValue{IsText: !f.batch.Has(2, f.at)}
		if v.IsText {
			v.Text = f.batch.Texts(3)(f.at)
		} else {
			v.Number = f.batch.Int64s(2)[f.at]
		}
		pass(int(f.sample()-first), int(f.batch.Int32s(1)[f.at]), v)
	}
	return f.err
}

// sample returns the number of the next row's sample; at the end, a number larger than any
// sample's.
func (f *fieldReader) sample() int64 {
	for f.err == nil && (f.batch == nil || f.at == f.batch.N) {
		f.Close()
		rows, err := f.rows.Next()
		if f.err = err; rows == nil {
			return math.MaxInt64
		}
		f.batch, f.at = &schema.Columns{N: int(rows.NumRows()), Batch: rows}, 0
	}
	if f.err != nil {
		return math.MaxInt64
	}
	return f.batch.Int64s(0)[f.at]
}

// Close implements decode.FieldReader.
func (f *fieldReader) Close() {
	if f.batch != nil {
		f.batch.Batch.Release()
		f.batch = nil
	}
}
