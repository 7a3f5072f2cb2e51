package schema

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Rows builds batches of a table row by row, for one experiment: it fills the
// first column, experiment_id or listed_in, itself. A row is appended either as a whole or
// value by value, in the order of the other columns:
//
//	rows.Int64(id).Null().Int32(n)
//
// which allocates nothing. A value whose type is not its column's is a bug; it panics when the
// batch is made.
type Rows struct {
	table *Table
	ids   *Labels         // the experiment's id
	cells []columnBuilder // by column
	modes int             // columns of modes
	next  int             // the column of the next value
	n     int             // whole rows
	text  int             // bytes of text in these rows
	flush func(*Table, arrow.RecordBatch) error
	err   error
}

// idColumn is the position of experiment_id, or listed_in, in every table.
const idColumn = 0

// columnBuilder has the values of a column.
type columnBuilder struct {
	array.Builder // of a Label column: indexes in labels
	labels        []string
	known         arrow.Array // the labels of the last batch
}

// NewRows returns a builder of an experiment's rows of a table, which passes each full batch to
// flush. experimentID is empty for a table whose rows the experiments of a batch share
// (Table.Links): the file has the batch's name instead.
func NewRows(t *Table, experimentID string, flush func(*Table, arrow.RecordBatch) error) *Rows {
	r := &Rows{table: t, ids: NewLabels(experimentID), cells: make([]columnBuilder, len(t.Columns)), modes: t.ModeColumns(), next: idColumn + 1, flush: flush}
	for i, c := range t.Columns {
		if c.Type == Label {
			c.Type = Int32
		}
		r.cells[i].Builder = array.NewBuilder(memory.DefaultAllocator, c.Type.Arrow())
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
	for i := idColumn + 1; i < len(r.cells); i++ {
		r.cells[i].Reserve(min(n, RowsAtOnce))
	}
	return r
}

// Int64 appends a value of an Int64 column.
func (r *Rows) Int64(v int64) *Rows {
	r.cells[r.next].Builder.(*array.Int64Builder).Append(v)
	return r.step()
}

// Int32 appends a value of an Int32 column.
func (r *Rows) Int32(v int32) *Rows {
	r.cells[r.next].Builder.(*array.Int32Builder).Append(v)
	return r.step()
}

// Label appends a declared label by its index.
func (r *Rows) Label(number int) *Rows { return r.Int32(int32(number)) }

// Text appends a value of a String column. It replaces invalid UTF-8, which engines refuse.
func (r *Rows) Text(v string) *Rows {
	r.cells[r.next].Builder.(*array.StringBuilder).Append(valid(v))
	r.text += len(v)
	return r.step()
}

// Null appends NULL.
func (r *Rows) Null() *Rows {
	r.cells[r.next].AppendNull()
	return r.step()
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

// Append adds a row. The values are in the order of the table's columns after
// experiment_id: string, int64, int32, bool, or arrow.Timestamp as the column's
// type says, or nil where it may be missing. Close returns the first error of flush.
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
			c.Builder.(*array.BooleanBuilder).Append(v)
			r.step()
		case arrow.Timestamp:
			c.Builder.(*array.TimestampBuilder).Append(v)
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
		columns[i] = r.cells[i].take(r.table.Columns[i].Type)
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

// take returns the column and starts a new one. It makes room for as many values: a batch after a
// full one is mostly full, too.
func (c *columnBuilder) take(t Type) arrow.Array {
	column := c.NewArray()
	if column.Len() == RowsAtOnce {
		c.Reserve(RowsAtOnce)
	}
	if t != Label {
		return column
	}
	if c.known == nil || c.known.Len() < len(c.labels) {
		c.known = texts(c.labels)
	}
	defer column.Release()
	return dictionaryArray(column, c.known)
}

// Close flushes the last batch and returns the first error.
func (r *Rows) Close() error {
	r.send()
	for i := range r.cells {
		r.cells[i].Release()
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
