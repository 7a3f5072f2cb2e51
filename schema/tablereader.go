package schema

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// RowReader reads rows of a table in their order.
type RowReader interface {
	// Next returns the next rows, nil at the end. The caller releases them.
	Next() (arrow.RecordBatch, error)
}

// TableReader returns columns of an experiment's rows of a table, from the row of a number on,
// at most n. It is safe for concurrent use.
type TableReader func(t *Table, from, n int64, columns ...string) RowReader

// AllRows is more than the rows of any table.
const AllRows = 1 << 62

// Columns are those of some rows. What has another type than asked for is empty, and an
// error at the end.
type Columns struct {
	N     int
	Batch arrow.RecordBatch
	Err   error
}

// EachBatch passes rows to a function, up to the first error. An error of the rows is that of
// a column which does not have the type that its table declares.
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

// typeError notes that a column has another type.
func (c *Columns) typeError(i int) {
	c.Err = fmt.Errorf("column %s has the type %s", c.Batch.ColumnName(i), c.Batch.Column(i).DataType())
}

// Int32s returns the values of a column, 0 for those that are missing.
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

// Has reports whether a value is there.
func (c *Columns) Has(column, row int) bool { return c.Batch.Column(column).IsValid(row) }

// Texts returns what gives the texts of a column by row.
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
