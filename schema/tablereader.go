package schema

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// RowReader reads rows of a table in order.
type RowReader interface {
	// Next returns the next rows, nil at the end. The caller releases them.
	Next() (arrow.RecordBatch, error)
}

// TableReader returns a reader of columns of a table: at most n rows of one experiment, beginning
// with its from-th row (from 0). It is safe for concurrent use.
type TableReader func(t *Table, from, n int64, columns ...string) RowReader

// AllRows is more than any table has.
const AllRows = 1 << 62

// Columns gives access to the columns of some rows by index. A column of an unexpected type reads
// as empty, and sets Err.
type Columns struct {
	N     int
	Batch arrow.RecordBatch
	Err   error
}

// EachBatch passes batches to f until the end or the first error. A column of an unexpected type is
// one.
func EachBatch(rows RowReader, f func(*Columns) error) error {
	for {
		b, err := rows.Next()
		if b == nil || err != nil {
			return err
		}
		c := &Columns{N: int(b.NumRows()), Batch: b}
		if err = f(c); err == nil {
			err = c.Err
		}
		b.Release()
		if err != nil {
			return err
		}
	}
}

// typeError sets Err for a column of an unexpected type.
func (c *Columns) typeError(i int) {
	c.Err = fmt.Errorf("column %s has the unexpected type %s", c.Batch.ColumnName(i), c.Batch.Column(i).DataType())
}

// Int32s returns the values of a column, 0 for NULL.
func (c *Columns) Int32s(i int) []int32 {
	if a, ok := c.Batch.Column(i).(*array.Int32); ok {
		return a.Int32Values()
	}
	c.typeError(i)
	return make([]int32, c.N)
}

// Int64s returns the values of a column.
func (c *Columns) Int64s(i int) []int64 {
	if a, ok := c.Batch.Column(i).(*array.Int64); ok {
		return a.Int64Values()
	}
	c.typeError(i)
	return make([]int64, c.N)
}

// Has reports whether a value is not NULL.
func (c *Columns) Has(column, row int) bool { return c.Batch.Column(column).IsValid(row) }

// Texts returns a function that returns the strings of a column by row.
func (c *Columns) Texts(i int) func(row int) string {
	switch a := c.Batch.Column(i).(type) {
	case *array.String:
		return a.Value
	case *array.Dictionary:
		if names, ok := a.Dictionary().(*array.String); ok {
			return func(row int) string { return names.Value(a.GetValueIndex(row)) }
		}
	}
	c.typeError(i)
	return func(int) string { return "" }
}
