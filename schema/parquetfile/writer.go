// Package parquetfile writes Parquet files of tables. It encodes the columns of record batches
// itself, because they are simple: no nested types, and most numbers either repeat or ascend. It
// also writes page headers and the footer itself (frame.go), because arrow-go's writer would also
// link arrow-go's reader into every program that writes: more code than all the rest.
//
// Start reading with Writer.Write.
package parquetfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
)

// A row group is full when it has RowGroupRows rows or RowGroupText bytes of text. A writer keeps
// the batches of one row group in memory, so these limits bound its memory.
const (
	RowGroupRows = 2 * schema.BatchRows
	RowGroupText = 4 * schema.BatchText
)

// rollupRows replaces RowGroupRows for function_rollup. Its rows are sorted by metric, and rows of
// different metrics mostly repeat the same functions: larger row groups compress these repetitions.
const rollupRows = 8 * schema.BatchRows

// groupRows returns the maximum number of rows in a row group of a table.
func groupRows(t *schema.Table) int {
	if t == schema.FunctionRollup {
		return rollupRows
	}
	return RowGroupRows
}

// magic begins and ends Parquet files.
const magic = "PAR1"

// Writer writes the rows of a table to a Parquet file. After an error it only returns that error.
type Writer struct {
	table   *schema.Table
	effort  Effort
	sink    *sink
	footer  *footer
	pending []arrow.RecordBatch // rows that wait for the next row group
	rows    int                 // number of rows in pending
	text    int                 // bytes of text in pending
	batch   string              // the value of schema.ListedIn
	unnamed []rowGroup
	err     error
}

// rowGroup is an encoded row group that lacks its column schema.ListedIn: the batch gets its name
// only once it is full.
type rowGroup struct {
	rows    int
	columns []chunkMeta // metadata of the column chunks, with offsets in pages
	pages   *bytes.Buffer
}

// sink writes to out and counts the bytes.
type sink struct {
	out *bufio.Writer
	at  int64
}

func (s *sink) Write(data []byte) (int, error) {
	n, err := s.out.Write(data)
	s.at += int64(n)
	return n, err
}

// Tell returns how many bytes were written.
func (s *sink) Tell() int64 { return s.at }

// New begins a file. about has alternating keys and values for the footer.
func New(out io.Writer, t *schema.Table, e Effort, about ...string) (*Writer, error) {
	end, err := newFooter(t, about)
	if err != nil {
		return nil, err
	}
	w := &Writer{table: t, effort: e, sink: &sink{out: bufio.NewWriter(out)}, footer: end}
	_, err = w.sink.Write([]byte(magic))
	return w, err
}

// Write appends rows. It retains the batch, which must not change any more.
func (w *Writer) Write(rows arrow.RecordBatch) error {
	if n := int(rows.NumCols()); n != len(w.table.Columns) {
		return fmt.Errorf("the batch has %d columns, but the table has %d", n, len(w.table.Columns))
	}
	for from, n := 0, int(rows.NumRows()); from < n && w.err == nil; {
		until := w.until(rows, from, n)
		w.pending = append(w.pending, rows.NewSlice(int64(from), int64(until)))
		w.rows += until - from
		w.text += textIn(rows, from, until)
		if from = until; w.rows >= groupRows(w.table) || w.text >= RowGroupText {
			w.err = w.flush()
		} else {
			w.err = w.join()
		}
	}
	return w.err
}

// As soon as `joined` batches in a row have fewer than fewRows rows each, they are joined: Arrow's
// structures take more memory than such small batches' values.
const (
	fewRows = 1 << 10
	joined  = 32
)

// join joins the last pending batches if they are many and small.
func (w *Writer) join() error {
	n := len(w.pending) - joined
	if n < 0 || slices.ContainsFunc(w.pending[n:], func(b arrow.RecordBatch) bool { return b.NumRows() >= fewRows }) {
		return nil
	}
	columns := make([]arrow.Array, 0, len(w.table.Columns))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, c := range w.table.Columns {
		column, err := array.Concatenate(columnOf(w.pending[n:], i), memory.DefaultAllocator)
		if err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
		columns = append(columns, column)
	}
	all := array.NewRecordBatch(w.pending[n].Schema(), columns, int64(columns[0].Len()))
	releaseAll(w.pending[n:])
	w.pending = append(w.pending[:n], all)
	return nil
}

// columnOf returns column i of each batch. The arrays belong to the batches.
func columnOf(batches []arrow.RecordBatch, i int) []arrow.Array {
	arrays := make([]arrow.Array, len(batches))
	for k, b := range batches {
		arrays[k] = b.Column(i)
	}
	return arrays
}

func releaseAll(batches []arrow.RecordBatch) {
	for _, b := range batches {
		b.Release()
	}
}

// until returns the row before which to end the row group, or n if rows [from, n) all fit. Row
// groups do not depend on how the rows are divided into batches.
func (w *Writer) until(rows arrow.RecordBatch, from, n int) int {
	until := min(n, from+groupRows(w.table)-w.rows)
	if w.text+textIn(rows, from, until) < RowGroupText {
		return until
	}
	return from + 1 + sort.Search(until-from-1, func(i int) bool {
		return w.text+textIn(rows, from, from+i+1) >= RowGroupText
	})
}

// textIn returns the bytes of text in rows [from, until).
func textIn(rows arrow.RecordBatch, from, until int) (n int) {
	for _, column := range rows.Columns() {
		if texts, ok := column.(*array.String); ok && from < until {
			offsets := texts.ValueOffsets()
			n += int(offsets[until] - offsets[from])
		}
	}
	return n
}

// flush writes the pending rows as a row group.
func (w *Writer) flush() error {
	defer w.release()
	out, pages := w.sink, &bytes.Buffer{}
	named := w.batch != "" || !w.table.Has(schema.ListedIn)
	if !named {
		out = &sink{out: bufio.NewWriter(pages), at: pagesFrom}
	} else if err := w.writeUnnamed(); err != nil { // earlier ones come first
		return err
	}
	columns := make([]chunkMeta, len(w.table.Columns))
	s := w.effort.takeScratch()
	defer scratches[w.effort].Put(s)
	for i := range w.table.Columns {
		c := &chunk{scratch: s, column: &w.table.Columns[i], rows: w.rows}
		var err error
		switch {
		case c.column.Name != schema.ListedIn:
			err = c.write(out, columnOf(w.pending, i))
		case named:
			err = c.writeSame(out, w.batch)
		default:
			continue
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", c.column.Name, err)
		}
		columns[i] = c.chunkMeta
	}
	if named {
		w.footer.add(w.rows, columns)
		return nil
	}
	w.unnamed = append(w.unnamed, rowGroup{w.rows, columns, pages})
	return out.out.Flush()
}

// pagesFrom is the offset of the first page of an unnamed row group. It is not 0, since that means
// none.
const pagesFrom = 1

// SetBatch sets the batch's name, which is the value of schema.ListedIn in all rows. Tables with
// that column keep complete row groups in memory until the name is set.
func (w *Writer) SetBatch(batch string) { w.batch = batch }

// writeUnnamed writes the row groups that waited for the batch's name.
func (w *Writer) writeUnnamed() error {
	if len(w.unnamed) == 0 {
		return nil
	}
	s := w.effort.takeScratch()
	defer scratches[w.effort].Put(s)
	at := w.table.Index(schema.ListedIn)
	for _, g := range w.unnamed {
		c := &chunk{scratch: s, column: &w.table.Columns[at], rows: g.rows}
		if err := c.writeSame(w.sink, w.batch); err != nil {
			return err
		}
		for i := range g.columns {
			g.columns[i].move(w.sink.at - pagesFrom)
		}
		g.columns[at] = c.chunkMeta
		if _, err := w.sink.Write(g.pages.Bytes()); err != nil {
			return err
		}
		w.footer.add(g.rows, g.columns)
	}
	w.unnamed = nil
	return nil
}

// release releases the pending rows.
func (w *Writer) release() {
	releaseAll(w.pending)
	w.pending, w.rows, w.text = w.pending[:0], 0, 0
}

// Pending returns the number of values, plus the bytes of text, that Close still has to write. The
// time that Close takes is about proportional to it.
func (w *Writer) Pending() int { return w.rows*len(w.table.Columns) + w.text }

// Close completes the file.
func (w *Writer) Close() error {
	defer w.release()
	if w.err == nil && w.rows > 0 {
		w.err = w.flush()
	}
	if w.err == nil {
		w.err = w.writeUnnamed()
	}
	if w.err == nil {
		w.err = w.finish()
	}
	return w.err
}

func (w *Writer) finish() error {
	if _, err := w.sink.Write(w.footer.encoded()); err != nil {
		return err
	}
	return w.sink.out.Flush()
}
