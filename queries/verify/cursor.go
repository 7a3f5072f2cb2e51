package verify

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
)

// blockRows is how many rows are read from a file at a time.
const blockRows = 8192

// column says how to read a column of a table: numbers as they are, texts as a number, by default
// their hash.
type column struct {
	name string
	of   func(text []byte) int64
	keep bool // whether to keep the texts as well
}

// hash is the number of a text.
func hash(text string) int64 { return int64(xxhash.Sum64String(text)) }

func hashed(text []byte) int64 { return int64(xxhash.Sum64(text)) }

// rows are rows of a table, by column.
type rows struct {
	n       int
	values  [][]int64
	missing [][]bool   // of nullable columns
	texts   [][]string // of columns whose texts are kept
}

// cursor reads a file from its first row to its last. The first column is experiment_id or, in a
// table that experiments share, listed_in.
type cursor struct {
	path    string
	table   *schema.Table
	columns []column
	file    *file.Reader
	group   int   // the next row group
	left    int64 // rows of the current row group after the block
	readers []file.ColumnChunkReader
	block   rows
	at      int // the block's next row
	levels  []int16
	texts   []parquet.ByteArray
	narrow  []int32
	bools   []bool
	dense   []int64
	kept    map[string]string // interned texts
}

// keptTexts is how many texts are interned, so that equal ones share memory.
const keptTexts = 1 << 14

func open(path string, t *schema.Table, columns []column) (*cursor, error) {
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return nil, err
	}
	c := &cursor{path: path, table: t, columns: columns, file: f}
	c.block = newRows(t, columns)
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
func (c *cursor) fill() error {
	for c.left == 0 {
		if c.group == c.file.NumRowGroups() {
			return io.EOF
		}
		if err := c.openGroup(); err != nil {
			return err
		}
	}
	n := int(min(c.left, blockRows))
	for i := range c.columns {
		if err := c.read(i, n); err != nil {
			return fmt.Errorf("%s.%s: %w", c.table.Name, c.columns[i].name, err)
		}
	}
	c.left -= int64(n)
	c.block.n, c.at = n, 0
	return nil
}

func (c *cursor) openGroup() error {
	g := c.file.RowGroup(c.group)
	c.group++
	c.left = g.NumRows()
	c.readers = c.readers[:0]
	for _, col := range c.columns {
		r, err := g.Column(c.table.Index(col.name))
		if err != nil {
			return err
		}
		c.readers = append(c.readers, r)
	}
	return nil
}

// read reads n values of a column into the block.
func (c *cursor) read(i, n int) error {
	values := resize(c.block.values[i], n)
	c.block.values[i] = values
	null := c.block.missing[i] != nil
	if null {
		c.block.missing[i] = resize(c.block.missing[i], n)
		c.levels = resize(c.levels, n)
	}
	if c.columns[i].keep {
		c.block.texts[i] = resize(c.block.texts[i], n)
	}
	for done := 0; done < n; {
		var levels []int16
		if null {
			levels = c.levels[done:n]
		}
		into := values[done:n]
		if null {
			c.dense = resize(c.dense, n-done)
			into = c.dense
		}
		total, found, err := c.batch(i, into, levels)
		if err != nil {
			return err
		}
		if total == 0 {
			return io.ErrUnexpectedEOF
		}
		if null {
			spread(values[done:], c.block.missing[i][done:], into[:found], levels[:total])
		}
		if c.columns[i].keep {
			c.keep(i, done, int(total), levels)
		}
		done += int(total)
	}
	return nil
}

// batch reads the next values of a column that are not NULL.
func (c *cursor) batch(i int, into []int64, levels []int16) (total int64, found int, err error) {
	n := int64(len(into))
	switch r := c.readers[i].(type) {
	case *file.Int64ColumnChunkReader:
		return r.ReadBatch(n, into, levels, nil)
	case *file.Int32ColumnChunkReader:
		c.narrow = resize(c.narrow, len(into))
		total, found, err = r.ReadBatch(n, c.narrow, levels, nil)
		for k, v := range c.narrow[:found] {
			into[k] = int64(v)
		}
	case *file.BooleanColumnChunkReader:
		c.bools = resize(c.bools, len(into))
		total, found, err = r.ReadBatch(n, c.bools, levels, nil)
		for k, v := range c.bools[:found] {
			into[k] = 0
			if v {
				into[k] = 1
			}
		}
	case *file.ByteArrayColumnChunkReader:
		c.texts = resize(c.texts, len(into))
		total, found, err = r.ReadBatch(n, c.texts, levels, nil)
		number(into, c.texts[:found], c.columns[i].of)
	default:
		err = fmt.Errorf("cannot read %T", r)
	}
	return total, found, err
}

// keep stores the texts that were read last in the block.
func (c *cursor) keep(i, from, n int, levels []int16) {
	k := 0
	for row := range n {
		text := ""
		if levels == nil || levels[row] > 0 {
			text = c.text(c.texts[k])
			k++
		}
		c.block.texts[i][from+row] = text
	}
}

// text interns a text.
func (c *cursor) text(b []byte) string {
	if t, known := c.kept[string(b)]; known {
		return t
	}
	if c.kept == nil || len(c.kept) == keptTexts {
		c.kept = map[string]string{}
	}
	t := string(b)
	c.kept[t] = t
	return t
}

// number computes the numbers of texts. Equal texts often follow each other, at the same address.
func number(into []int64, texts []parquet.ByteArray, of func([]byte) int64) {
	for k, t := range texts {
		if k > 0 && len(t) == len(texts[k-1]) && (len(t) == 0 || &t[0] == &texts[k-1][0]) {
			into[k] = into[k-1]
			continue
		}
		into[k] = of(t)
	}
}

// spread moves the values to the rows that are not NULL.
func spread(values []int64, missing []bool, there []int64, levels []int16) {
	k := 0
	for i, l := range levels {
		if missing[i] = l == 0; missing[i] {
			values[i] = 0
			continue
		}
		values[i] = there[k]
		k++
	}
}

// take appends an experiment's next rows, until there are most of them.
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

// done reports whether all rows were read.
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

// resize returns a slice of n elements with any content.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
