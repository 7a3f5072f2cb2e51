package schema

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Int64s wraps values as an Arrow array without copying; they must not change
// afterwards.
func Int64s(values []int64) arrow.Array {
	return fixed(arrow.PrimitiveTypes.Int64, arrow.Int64Traits.CastToBytes(values), len(values))
}

// Int32s is Int64s for 32-bit values.
func Int32s(values []int32) arrow.Array {
	return fixed(arrow.PrimitiveTypes.Int32, arrow.Int32Traits.CastToBytes(values), len(values))
}

func fixed(t arrow.DataType, data []byte, n int) arrow.Array {
	d := array.NewData(t, n, []*memory.Buffer{nil, memory.NewBufferBytes(data)}, nil, 0, 0)
	defer d.Release()
	return array.MakeFromData(d)
}

// Labels makes arrays of a Label column.
type Labels struct {
	dictionary arrow.Array
	full       []arrow.Array // BatchRows of each value
}

// NewLabels prepares the values that the column can have. They are the same
// for all batches of a file: a dictionary that changes would be written in full.
func NewLabels(values ...string) *Labels {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	dictionary := b.NewArray()
	l := &Labels{dictionary: dictionary}
	for i := range values {
		indices := make([]int32, BatchRows)
		for j := range indices {
			indices[j] = int32(i)
		}
		l.full = append(l.full, array.NewDictionaryArray(label, Int32s(indices), dictionary))
	}
	return l
}

// Mixed returns a row for each number of a value. It keeps numbers.
func (l *Labels) Mixed(numbers []int32) arrow.Array {
	return array.NewDictionaryArray(label, Int32s(numbers), l.dictionary)
}

// Array returns n rows, at most BatchRows, of the value of that number.
func (l *Labels) Array(value, n int) arrow.Array { return array.NewSlice(l.full[value], 0, int64(n)) }

// Rows builds batches of a table row by row; it is for tables that are small or
// made once per experiment.
type Rows struct {
	table *Table
	b     *array.RecordBuilder
	n     int
	flush func(*Table, arrow.RecordBatch) error
	err   error
}

// NewRows returns a builder of the table's rows that hands each full batch to flush.
func NewRows(t *Table, flush func(*Table, arrow.RecordBatch) error) *Rows {
	return &Rows{table: t, b: array.NewRecordBuilder(memory.DefaultAllocator, t.Arrow()), flush: flush}
}

// Append adds a row. The values stand in the order of the table's columns:
// string, int64, int32, bool, or arrow.Timestamp as the column's type says, or
// nil where it may be missing. The first error of flush is kept for Close.
func (r *Rows) Append(values ...any) {
	for i, v := range values {
		switch b := r.b.Field(i).(type) {
		case *array.StringBuilder:
			b.Append(v.(string))
		case *array.BinaryDictionaryBuilder:
			if err := b.AppendString(v.(string)); r.err == nil {
				r.err = err
			}
		case *array.Int64Builder:
			if v == nil {
				b.AppendNull()
			} else {
				b.Append(v.(int64))
			}
		case *array.Int32Builder:
			b.Append(v.(int32))
		case *array.BooleanBuilder:
			b.Append(v.(bool))
		case *array.TimestampBuilder:
			if v == nil {
				b.AppendNull()
			} else {
				b.Append(v.(arrow.Timestamp))
			}
		}
	}
	if r.n++; r.n == BatchRows {
		r.send()
	}
}

func (r *Rows) send() {
	if r.n == 0 {
		return
	}
	rec := r.b.NewRecordBatch()
	defer rec.Release()
	r.n = 0
	if r.err == nil {
		r.err = r.flush(r.table, rec)
	}
}

// Close hands over the last batch and returns the first error.
func (r *Rows) Close() error {
	r.send()
	r.b.Release()
	return r.err
}
