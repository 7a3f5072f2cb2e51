package gprofng

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
)

// batch is a record batch under construction. Its columns are written in place, since decoding
// spends most of its time on them.
type batch struct {
	kind    schema.Kind
	schema  *arrow.Schema
	size    int                  // capacity in rows
	rows    int                  // rows filled
	buffers []*memory.Buffer     // by column of the kind, like columns
	columns []columnValues       // empty for columns that the schema lacks
	names   *array.StringBuilder // the column of strings, if the schema has one
	text    int                  // bytes in it
}

// columnValues are the values of a column, in one of the two slices.
type columnValues struct {
	wide   []int64
	narrow []int32
}

// selectColumns returns the schema of the named columns of a kind; of all columns if none are
// named, or if a column of the kind is derived from others.
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

// newBatch returns a batch of a kind's columns that the schema has.
func newBatch(alloc memory.Allocator, kind schema.Kind, s *arrow.Schema, size int) *batch {
	b := &batch{kind: kind, schema: s, size: size}
	for _, field := range schema.EventSchema(kind).Fields() {
		var v columnValues
		var buf *memory.Buffer
		switch id := field.Type.ID(); {
		case !s.HasField(field.Name):
		case id == arrow.INT64:
			buf = newBuffer(alloc, size*arrow.Int64SizeBytes)
			v.wide = arrow.Int64Traits.CastFromBytes(buf.Bytes())
		case id == arrow.INT32:
			buf = newBuffer(alloc, size*arrow.Int32SizeBytes)
			v.narrow = arrow.Int32Traits.CastFromBytes(buf.Bytes())
		default:
			b.names = array.NewStringBuilder(alloc)
			b.names.Reserve(size)
		}
		b.columns = append(b.columns, v)
		b.buffers = append(b.buffers, buf)
	}
	return b
}

func newBuffer(alloc memory.Allocator, size int) *memory.Buffer {
	buf := memory.NewResizableBuffer(alloc)
	buf.Resize(size)
	return buf
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
	defer b.release()
	if b.rows == 0 {
		return nil
	}
	var arrays []arrow.Array
	for _, field := range b.schema.Fields() {
		buf := b.buffers[schema.EventColumn(b.kind, field.Name)]
		if buf == nil {
			arrays = append(arrays, b.names.NewArray())
			continue
		}
		data := array.NewData(field.Type, b.rows, []*memory.Buffer{nil, buf}, nil, 0, 0)
		arrays = append(arrays, array.MakeFromData(data))
		data.Release()
	}
	rec := array.NewRecordBatch(b.schema, arrays, int64(b.rows))
	for _, a := range arrays {
		a.Release()
	}
	return rec
}

// release releases the batch's references to its buffers.
func (b *batch) release() {
	for _, buf := range b.buffers {
		if buf != nil {
			buf.Release()
		}
	}
	if b.names != nil {
		b.names.Release()
	}
	b.buffers, b.names = nil, nil
}

// column copies a field of packets into a column.
func (f *eventFile) column(to columnValues, packets []int, from field, missing int64) {
	switch {
	case to.wide != nil:
		f.wideColumn(to.wide, packets, from, missing)
	case to.narrow != nil:
		f.narrowColumn(to.narrow, packets, from, missing)
	}
}

func (f *eventFile) wideColumn(to []int64, packets []int, from field, missing int64) {
	data, order := f.Data, f.order
	switch {
	case from.width == 8:
		for i, o := range packets {
			to[i] = int64(order.u64(data[o+from.offset:]))
		}
	case from.width == 4 && from.signed:
		for i, o := range packets {
			to[i] = int64(int32(order.u32(data[o+from.offset:])))
		}
	case from.width == 4:
		for i, o := range packets {
			to[i] = int64(order.u32(data[o+from.offset:]))
		}
	default:
		for i := range to {
			to[i] = missing
		}
	}
}

// narrowColumn keeps the low half of wide fields: no value of these columns needs the high half.
func (f *eventFile) narrowColumn(to []int32, packets []int, from field, missing int64) {
	data, order := f.Data, f.order
	switch from.width {
	case 8:
		for i, o := range packets {
			to[i] = int32(order.u64(data[o+from.offset:]))
		}
	case 4:
		for i, o := range packets {
			to[i] = int32(order.u32(data[o+from.offset:]))
		}
	default:
		for i := range to {
			to[i] = int32(missing)
		}
	}
}
