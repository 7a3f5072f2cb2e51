package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
)

// blockRows is how many rows are read at a time.
const blockRows = 8192

// column says how to read a column of a table. Everything is read as numbers: `of` converts texts,
// by default to their hash.
type column struct {
	name string
	of   func(text string) int64
	keep bool // whether to keep the texts as well
}

// hash returns the number by which a text is represented.
func hash(text string) int64 { return int64(xxhash.Sum64String(text)) }

// rows holds rows of a table, column by column.
type rows struct {
	n       int
	values  [][]int64
	missing [][]bool   // for nullable columns: which values are NULL
	texts   [][]string // for columns whose texts are kept: the texts
}

// cursor reads a file from its first row to its last. The first column is experiment_id or, if
// experiments share the table's rows, listed_in.
type cursor struct {
	path    string
	table   *schema.Table
	columns []column
	file    *file.Reader
	arrow   *pqarrow.FileReader
	indexes []int                // indexes in the file of the columns to read, sorted
	group   int                  // the next row group
	records pqarrow.RecordReader // reads the current row group; nil before the first
	block   rows
	at      int // the block's next row
}

func open(path string, t *schema.Table, columns []column) (*cursor, error) {
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return nil, err
	}
	c := &cursor{path: path, table: t, columns: columns, file: f, block: newRows(t, columns)}
	props := pqarrow.ArrowReadProperties{BatchSize: blockRows}
	for _, col := range columns {
		i := t.Index(col.name)
		c.indexes = append(c.indexes, i)
		props.SetReadDict(i, t.Columns[i].Type == schema.Label)
	}
	slices.Sort(c.indexes)
	c.indexes = slices.Compact(c.indexes) // a column may be read in two ways
	if c.arrow, err = pqarrow.NewFileReader(f, props, memory.DefaultAllocator); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

func newRows(t *schema.Table, columns []column) rows {
	r := rows{values: make([][]int64, len(columns)), missing: make([][]bool, len(columns)), texts: make([][]string, len(columns))}
	for i, c := range columns {
		if t.Columns[t.Index(c.name)].Null {
			r.missing[i] = []bool{}
		}
		if c.keep {
			r.texts[i] = []string{}
		}
	}
	return r
}

func (c *cursor) close() error { return c.file.Close() }

// fill reads the next block. The error is io.EOF after the last.
func (c *cursor) fill() (err error) {
	for c.records == nil || !c.records.Next() {
		if c.records != nil {
			err := c.records.Err()
			c.records.Release()
			if c.records = nil; err != nil && err != io.EOF {
				return err
			}
		}
		if c.group == c.file.NumRowGroups() {
			return io.EOF
		}
		if c.records, err = c.arrow.GetRecordReader(context.Background(), c.indexes, []int{c.group}); err != nil {
			return err
		}
		c.group++
	}
	b := c.records.RecordBatch()
	c.block.n, c.at = int(b.NumRows()), 0
	for i, col := range c.columns {
		at, _ := slices.BinarySearch(c.indexes, c.table.Index(col.name))
		if err := c.block.read(i, col, b.Column(at)); err != nil {
			return fmt.Errorf("%s.%s: %w", c.table.Name, col.name, err)
		}
	}
	return nil
}

func (r *rows) read(i int, col column, from arrow.Array) (err error) {
	if r.values[i], err = numbers(from, col.of); err != nil {
		return err
	}
	if r.missing[i] != nil {
		r.missing[i] = r.missing[i][:0]
		for row := range r.n {
			if r.missing[i] = append(r.missing[i], from.IsNull(row)); from.IsNull(row) {
				r.values[i][row] = 0
			}
		}
	}
	if col.keep {
		r.texts[i] = r.texts[i][:0]
		for row := range r.n {
			r.texts[i] = append(r.texts[i], strings.Clone(textAt(from, row)))
		}
	}
	return nil
}

// numbers returns an array's values as numbers: `of` converts texts.
func numbers(a arrow.Array, of func(text string) int64) ([]int64, error) {
	list := make([]int64, a.Len())
	switch a := a.(type) {
	case *array.Int64:
		return a.Int64Values(), nil
	case *array.Int32:
		for i, v := range a.Int32Values() {
			list[i] = int64(v)
		}
	case *array.Boolean:
		for i := range list {
			if a.Value(i) {
				list[i] = 1
			}
		}
	case *array.String:
		for i := range list {
			list[i] = of(a.Value(i))
		}
	case *array.Dictionary:
		values, err := numbers(a.Dictionary(), of)
		for i := range list {
			if err == nil && a.IsValid(i) {
				list[i] = values[a.GetValueIndex(i)]
			}
		}
		return list, err
	default:
		return nil, fmt.Errorf("cannot read %s", a.DataType())
	}
	return list, nil
}

func textAt(a arrow.Array, row int) string {
	if d, is := a.(*array.Dictionary); is && d.IsValid(row) {
		return textAt(d.Dictionary(), d.GetValueIndex(row))
	}
	if s, is := a.(*array.String); is {
		return s.Value(row)
	}
	return ""
}

// take appends rows of an experiment, the next ones of the file, to into. It stops when into has
// `most` rows.
func (c *cursor) take(id int64, into *rows, most int) error {
	for into.n < most {
		if c.at == c.block.n {
			if err := c.fill(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
		ids := c.block.values[0][c.at:c.block.n]
		k, limit := 0, min(len(ids), most-into.n)
		for k < limit && ids[k] == id {
			k++
		}
		for i := range into.values {
			into.values[i] = append(into.values[i], c.block.values[i][c.at:c.at+k]...)
			if into.missing[i] != nil {
				into.missing[i] = append(into.missing[i], c.block.missing[i][c.at:c.at+k]...)
			}
			if into.texts[i] != nil {
				into.texts[i] = append(into.texts[i], c.block.texts[i][c.at:c.at+k]...)
			}
		}
		into.n += k
		c.at += k
		if k < limit {
			return nil
		}
	}
	return nil
}

// done reports whether all rows of the file were read.
func (c *cursor) done() (bool, error) {
	if c.at < c.block.n {
		return false, nil
	}
	err := c.fill()
	if err == io.EOF {
		return true, nil
	}
	return false, err
}

// clear removes all rows but keeps the memory.
func (r *rows) clear() {
	r.n = 0
	for i := range r.values {
		r.values[i] = r.values[i][:0]
		if r.missing[i] != nil {
			r.missing[i] = r.missing[i][:0]
		}
		r.texts[i] = r.texts[i][:0]
	}
}
