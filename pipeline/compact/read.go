package compact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"stackmill/schema"
)

// reader reads the rows of a table's file in their order.
type reader struct {
	table *schema.Table
	known []texts // by column; all readers of the table share them
	file  *file.Reader
	next  pqarrow.RecordReader
}

// open opens a file of a store, to read atOnce rows at a time.
func open(ctx context.Context, store string, from source, t *schema.Table, known []texts, atOnce int) (*reader, error) {
	path := from.Path
	f, err := file.OpenParquetFile(filepath.Join(store, filepath.FromSlash(path)), false)
	if err != nil {
		return nil, err
	}
	props := pqarrow.ArrowReadProperties{BatchSize: int64(atOnce)}
	for i, c := range t.Columns {
		if c.Type == schema.String || c.Type == schema.Label {
			props.SetReadDict(i, true)
		}
	}
	r := &reader{table: t, known: known, file: f}
	columns, err := pqarrow.NewFileReader(f, props, memory.DefaultAllocator)
	if err == nil {
		r.next, err = columns.GetRecordReader(ctx, nil, nil)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *reader) close() {
	r.next.Release()
	_ = r.file.Close() // it was read only
}

// read returns the next rows; nil at the end.
func (r *reader) read() (*rows, error) {
	batch, err := r.next.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := &rows{n: int(batch.NumRows()), columns: make([]column, len(r.table.Columns))}
	for i := range out.columns {
		if err := out.columns[i].fill(batch.Column(i), &r.known[i]); err != nil {
			return nil, fmt.Errorf("column %s: %w", r.table.Columns[i].Name, err)
		}
	}
	return out, nil
}

// fill takes the values of an array, and may keep using its memory.
func (c *column) fill(a arrow.Array, known *texts) error {
	if a.NullN() > 0 {
		c.valid = make([]bool, a.Len())
		for i := range c.valid {
			c.valid[i] = a.IsValid(i)
		}
	}
	switch a := a.(type) {
	case *array.Int64:
		c.wide = a.Int64Values()
	case *array.Int32:
		c.narrow = a.Int32Values()
	case *array.Timestamp:
		c.wide = make([]int64, a.Len())
		for i, v := range a.TimestampValues() {
			c.wide[i] = int64(v)
		}
	case *array.Boolean:
		c.narrow = make([]int32, a.Len())
		for i := range c.narrow {
			if a.IsValid(i) && a.Value(i) {
				c.narrow[i] = 1
			}
		}
	case *array.Dictionary:
		return c.number(a, known)
	default:
		return fmt.Errorf("values of type %s, which no table has", a.DataType())
	}
	return nil
}

// number replaces texts by their numbers in known.
func (c *column) number(a *array.Dictionary, known *texts) error {
	names, ok := a.Dictionary().(*array.String)
	if !ok {
		return fmt.Errorf("texts of type %s, which no table has", a.DataType())
	}
	numbers := make([]int32, names.Len()) // from 1
	c.narrow = make([]int32, a.Len())
	for i := range c.narrow {
		if !a.IsValid(i) {
			continue
		}
		at := a.GetValueIndex(i)
		if numbers[at] == 0 {
			numbers[at] = known.of(names.Value(at)) + 1
		}
		c.narrow[i] = numbers[at] - 1
	}
	return nil
}
