package kept

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// columns are those of some rows. What has another type than asked for is empty, and an
// error at the end.
type columns struct {
	n    int
	rows arrow.RecordBatch
	err  error
}

// each passes rows to a function, up to the first error. An error of the rows is that of
// a column which does not have the type that its table declares.
func each(rows Rows, f func(*columns) error) error {
	for {
		b, err := rows.Next()
		if b == nil || err != nil {
			return err
		}
		c := &columns{n: int(b.NumRows()), rows: b}
		if err = f(c); err == nil {
			err = c.err
		}
		b.Release()
		if err != nil {
			return err
		}
	}
}

// wrong notes that a column has another type.
func (c *columns) wrong(i int) {
	c.err = fmt.Errorf("column %s has the type %s", c.rows.ColumnName(i), c.rows.Column(i).DataType())
}

// int32s returns the values of a column, 0 for those that are missing.
func (c *columns) int32s(i int) []int32 {
	if a, ok := c.rows.Column(i).(*array.Int32); ok {
		return a.Int32Values()
	}
	c.wrong(i)
	return make([]int32, c.n)
}

// int64s returns the values of a column.
func (c *columns) int64s(i int) []int64 {
	if a, ok := c.rows.Column(i).(*array.Int64); ok {
		return a.Int64Values()
	}
	c.wrong(i)
	return make([]int64, c.n)
}

// has reports whether a value is there.
func (c *columns) has(column, row int) bool { return c.rows.Column(column).IsValid(row) }

// texts returns what gives the texts of a column by row.
func (c *columns) texts(i int) func(row int) string {
	switch a := c.rows.Column(i).(type) {
	case *array.String:
		return a.Value
	case *array.Dictionary:
		if names, ok := a.Dictionary().(*array.String); ok {
			return func(row int) string { return names.Value(a.GetValueIndex(row)) }
		}
	}
	c.wrong(i)
	return func(int) string { return "" }
}
