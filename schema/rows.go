package schema

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Rows builds batches of a table row by row, for one experiment. It fills the first column,
// experiment_id or listed_in, itself. Append adds a whole row. The other methods add value by
// value, in the order of the other columns, without allocating:
//
//	rows.Int64(id).Null().Int32(n)
//
// A value of another type than its column's is a bug: Rows panics when it makes the batch.
type Rows struct {
	table *Table
	ids   *Labels         // the experiment's id
	cells []columnBuilder // by column
	modes int             // columns of modes
	next  int             // the column of the next value
	n     int             // whole rows
	text  int             // bytes of text in the whole rows
	flush func(*Table, arrow.RecordBatch) error
	err   error
}

// idColumn is the position of experiment_id, or listed_in, in every table.
const idColumn = 0

// columnBuilder holds the values of a column for the next batch.
type columnBuilder struct {
	wide   []int64
	narrow []int32 // for a Label column: indexes in labels
	valid  []byte  // a validity bit for each row of a batch; rows past the end have 1
	nulls  int     // rows without a value
	others array.Builder
	labels []string
	known  arrow.Array // the labels of the last batch
}

// NewRows returns a builder for an experiment's rows of a table. It passes each full batch to
// flush. experimentID is empty for a table whose rows the experiments of a batch share
// (Table.Links): its file has the batch's name instead.
func NewRows(t *Table, experimentID string, flush func(*Table, arrow.RecordBatch) error) *Rows {
	r := &Rows{table: t, ids: NewLabels(experimentID), cells: make([]columnBuilder, len(t.Columns)), modes: t.ModeColumns(), next: idColumn + 1, flush: flush}
	for i, c := range t.Columns {
		switch c.Type {
		case Int64, Int32, Label:
		default:
			r.cells[i].others = array.NewBuilder(memory.DefaultAllocator, c.Type.Arrow())
		}
	}
	return r
}

// Labels declares the values of a Label column; rows refer to them by index.
func (r *Rows) Labels(column string, values ...string) *Rows {
	c := &r.cells[r.table.Index(column)]
	c.labels = values
	return r
}

// Expect makes room for n rows, up to a full batch.
func (r *Rows) Expect(n int) *Rows {
	n = min(n, RowsAtOnce)
	for i := idColumn + 1; i < len(r.cells); i++ {
		c := &r.cells[i]
		switch r.table.Columns[i].Type {
		case Int64:
			c.wide = make([]int64, 0, n)
		case Int32, Label:
			c.narrow = make([]int32, 0, n)
		default:
			c.others.Reserve(n)
		}
	}
	return r
}

// Int64 appends a value of an Int64 column.
func (r *Rows) Int64(v int64) *Rows {
	c := &r.cells[r.next]
	c.wide = append(c.wide, v)
	return r.step()
}

// Int32 appends a value of an Int32 column.
func (r *Rows) Int32(v int32) *Rows {
	c := &r.cells[r.next]
	c.narrow = append(c.narrow, v)
	return r.step()
}

// Label appends a declared label by its index.
func (r *Rows) Label(number int) *Rows { return r.Int32(int32(number)) }

// Text appends a value of a String column. It replaces invalid UTF-8, which engines refuse.
func (r *Rows) Text(v string) *Rows {
	r.cells[r.next].others.(*array.StringBuilder).Append(valid(v))
	r.text += len(v)
	return r.step()
}

// Null appends NULL.
func (r *Rows) Null() *Rows {
	c := &r.cells[r.next]
	switch r.table.Columns[r.next].Type {
	case Int64:
		c.wide = append(c.wide, 0)
		c.missing(r.n)
	case Int32, Label:
		c.narrow = append(c.narrow, 0)
		c.missing(r.n)
	default:
		c.others.AppendNull()
	}
	return r.step()
}

// missing marks the value in a row as NULL.
func (c *columnBuilder) missing(row int) {
	c.validTo(row + 1)
	bitutil.ClearBit(c.valid, row)
	c.nulls++
}

// validTo extends the bits in valid to at least that many rows.
func (c *columnBuilder) validTo(rows int) {
	for int64(len(c.valid)) < bitutil.BytesForBits(int64(rows)) {
		c.valid = append(c.valid, 0xff)
	}
}

// Int64If appends a value of an Int64 column if it is known, else NULL.
func (r *Rows) Int64If(known bool, v int64) *Rows {
	if known {
		return r.Int64(v)
	}
	return r.Null()
}

// Int32If appends a value of an Int32 or Label column if it is known, else NULL.
func (r *Rows) Int32If(known bool, v int32) *Rows {
	if known {
		return r.Int32(v)
	}
	return r.Null()
}

// Append adds a row. The values have the order of the table's columns after the first one, and the
// types of these: string, int64, int32, bool or arrow.Timestamp, or nil for NULL. An error of flush
// is returned by Close.
func (r *Rows) Append(values ...any) {
	for _, v := range values {
		c := &r.cells[r.next]
		switch v := v.(type) {
		case nil:
			r.Null()
		case int64:
			r.Int64(v)
		case int32:
			r.Int32(v)
		case string:
			if r.table.Columns[r.next].Type == Label {
				r.Label(c.label(v))
			} else {
				r.Text(v)
			}
		case bool:
			c.others.(*array.BooleanBuilder).Append(v)
			r.step()
		case arrow.Timestamp:
			c.others.(*array.TimestampBuilder).Append(v)
			r.step()
		default:
			panic(fmt.Sprintf("schema: table %s: a value of type %T", r.table.Name, v))
		}
	}
}

// label returns the index of a label, which it adds if it is new.
func (c *columnBuilder) label(v string) int {
	n := slices.Index(c.labels, v)
	if n < 0 {
		n = len(c.labels)
		c.labels = append(c.labels, v)
	}
	return n
}

func (r *Rows) step() *Rows {
	if r.next++; r.next == len(r.cells) {
		r.next = idColumn + 1
		if r.n++; r.n == RowsAtOnce || r.text >= BatchText {
			r.send()
		}
	}
	return r
}

func (r *Rows) send() {
	if r.n == 0 {
		return
	}
	columns := make([]arrow.Array, len(r.cells))
	columns[idColumn] = r.ids.Array(0, r.n)
	for i := idColumn + 1; i < len(r.cells); i++ {
		c := &r.cells[i]
		if c.nulls > 0 {
			c.validTo(r.n)
		}
		columns[i] = c.take(r.table.Columns[i].Type)
	}
	rec := array.NewRecordBatch(r.table.Arrow(), columns, int64(r.n))
	defer rec.Release()
	for _, c := range columns {
		c.Release()
	}
	r.n, r.text = 0, 0
	if r.err == nil {
		r.err = r.flush(r.table, rec)
	}
}

// take returns the column. It starts new slices, because Arrow keeps the old ones.
func (c *columnBuilder) take(t Type) (column arrow.Array) {
	switch t {
	case Int64:
		column = fixed(t.Arrow(), arrow.Int64Traits.CastToBytes(c.wide), len(c.wide), c.valid, c.nulls)
		c.wide = sameRoom(c.wide)
	case Int32:
		column = fixed(t.Arrow(), arrow.Int32Traits.CastToBytes(c.narrow), len(c.narrow), c.valid, c.nulls)
		c.narrow = sameRoom(c.narrow)
	case Label:
		if c.known == nil || c.known.Len() < len(c.labels) {
			c.known = texts(c.labels)
		}
		indices := fixed(arrow.PrimitiveTypes.Int32, arrow.Int32Traits.CastToBytes(c.narrow), len(c.narrow), c.valid, c.nulls)
		defer indices.Release()
		column = dictionaryArray(indices, c.known)
		c.narrow = sameRoom(c.narrow)
	default:
		column = c.others.NewArray()
		if column.Len() == RowsAtOnce {
			c.others.Reserve(RowsAtOnce)
		}
	}
	c.valid, c.nulls = nil, 0
	return column
}

// sameRoom returns a slice for the next batch. It has the same capacity if the batch before was
// full, because the next one then mostly is, too.
func sameRoom[T any](before []T) []T {
	if len(before) < RowsAtOnce {
		return nil
	}
	return make([]T, 0, RowsAtOnce)
}

// Close flushes the last batch and returns the first error.
func (r *Rows) Close() error {
	r.send()
	for i := range r.cells {
		if b := r.cells[i].others; b != nil {
			b.Release()
		}
	}
	return r.err
}

// CloseAll closes all and returns the first error.
func CloseAll(all ...*Rows) error {
	var first error
	for _, rows := range all {
		if err := rows.Close(); first == nil {
			first = err
		}
	}
	return first
}
