package gprofng

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// batch is a record batch under construction. Its columns are written in place, since decoding
// spends most of its time on them.
type batch struct {
	kind    schema.Kind
	schema  *arrow.Schema
	size    int                  // capacity in rows
	rows    int                  // rows filled
	columns []columnValues       // index of a column of the kind -> its values; empty for columns that the schema lacks
	names   *array.StringBuilder // the column of strings, if the schema has one
	text    int                  // bytes in names
}

// columnValues holds the values of a column: wide for an int64 column, narrow for int32.
type columnValues struct {
	wide   []int64
	narrow []int32
}

// selectColumns returns the schema of the named columns of a kind. It returns all columns if none
// are named, or if a column of the kind is derived from others.
func selectColumns(kind schema.Kind, columns []string) *arrow.Schema {
	all := schema.EventSchema(kind)
	if len(columns) == 0 || kind == schema.Clock {
		return all
	}
	var fields []arrow.Field
	for _, f := range all.Fields() {
		if slices.Contains(columns, f.Name) {
			fields = append(fields, f)
		}
	}
	return arrow.NewSchema(fields, nil)
}

// newBatch returns a batch with those columns of a kind that the schema has.
func newBatch(kind schema.Kind, s *arrow.Schema, size int) *batch {
	b := &batch{kind: kind, schema: s, size: size}
	for _, field := range schema.EventSchema(kind).Fields() {
		var v columnValues
		switch id := field.Type.ID(); {
		case !s.HasField(field.Name):
		case id == arrow.INT64:
			v.wide = make([]int64, size)
		case id == arrow.INT32:
			v.narrow = make([]int32, size)
		default:
			b.names = array.NewStringBuilder(memory.DefaultAllocator)
			b.names.Reserve(size)
		}
		b.columns = append(b.columns, v)
	}
	return b
}

// values returns the memory of the next n values of a column, empty if the schema lacks it.
func (b *batch) values(column, n int) (to columnValues) {
	v := b.columns[column]
	if v.wide != nil {
		to.wide = v.wide[b.rows : b.rows+n]
	}
	if v.narrow != nil {
		to.narrow = v.narrow[b.rows : b.rows+n]
	}
	return to
}

// addText appends a string, which ends at its first NUL.
func (b *batch) addText(s []byte) {
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	if !utf8.Valid(s) {
		s = bytes.ToValidUTF8(s, []byte("\uFFFD"))
	}
	b.names.BinaryBuilder.Append(s)
	b.text += len(s)
}

// finish returns the batch, nil if it has no rows.
func (b *batch) finish() arrow.RecordBatch {
	if b.rows == 0 {
		return nil
	}
	var columns []arrow.Array
	for _, field := range b.schema.Fields() {
		switch v := b.columns[schema.EventColumn(b.kind, field.Name)]; {
		case v.wide != nil:
			columns = append(columns, schema.Int64s(v.wide[:b.rows]))
		case v.narrow != nil:
			columns = append(columns, schema.Int32s(v.narrow[:b.rows]))
		default:
			columns = append(columns, b.names.NewArray())
		}
	}
	return decode.NewBatch(b.schema, columns)
}

// column copies a field of packets into a column.
func (f *eventFile) column(to columnValues, packets []int, from field, missing int64) {
	switch {
	case to.wide != nil:
		fillColumn(f, to.wide, packets, from, missing)
	case to.narrow != nil:
		fillColumn(f, to.narrow, packets, from, missing)
	}
}

// fillColumn copies a field into a column. From an 8-byte field, an int32 column takes the low 32
// bits: the values of such fields fit.
func fillColumn[T int32 | int64](f *eventFile, to []T, packets []int, from field, missing int64) {
	data, order := f.Data, f.order
	switch {
	case from.width == 8:
		for i, o := range packets {
			to[i] = T(order.u64(data[o+from.offset:]))
		}
	case from.width == 4 && from.signed:
		for i, o := range packets {
			to[i] = T(int32(order.u32(data[o+from.offset:])))
		}
	case from.width == 4:
		for i, o := range packets {
			to[i] = T(order.u32(data[o+from.offset:]))
		}
	default:
		for i := range to {
			to[i] = T(missing)
		}
	}
}
