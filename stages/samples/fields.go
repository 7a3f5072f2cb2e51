package samples

import (
	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/decode"
)

// FieldRows emits the fields of tracepoints in samples.
type FieldRows struct {
	reader decode.FieldReader
	rows   *schema.Rows // rows of table event_fields
}

// NewFieldRows returns the sink of an experiment's samples, nil if they have no fields.
func NewFieldRows(experimentID string, reader decode.FieldReader, emit attribute.Emit) *FieldRows {
	if reader == nil {
		return nil
	}
	return &FieldRows{reader, schema.NewRows(schema.EventFields, experimentID, emit)}
}

// Add implements Sink.
func (f *FieldRows) Add(b *Batch) error {
	if b.Kind != schema.Perf {
		return nil
	}
	return f.reader.Fields(b.Events.RecordBatch, b.First, func(row, position int, v decode.FieldValue) {
		f.rows.Int64(b.First + int64(row)).Int32(int32(position))
		if v.IsText {
			f.rows.Null().Text(v.Text)
		} else {
			f.rows.Int64(v.Number).Null()
		}
	})
}

// Close emits the last rows, and closes the reader of fields.
func (f *FieldRows) Close() error {
	if f == nil {
		return nil
	}
	f.reader.Close()
	return f.rows.Close()
}
