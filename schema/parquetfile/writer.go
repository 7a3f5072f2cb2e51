// Package parquetfile writes Parquet files of tables. It encodes columns itself, straight
// from the columns of record batches, whose shape it knows: no nested types, and most
// numbers either repeat or ascend. The frame around them, headers of pages and the
// footer, is frame.go: arrow-go's would bring its reading side into every program that
// writes, and more code than all else that these have.
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

	"stackmill/schema"
)

// A row group is full when it has as many rows or bytes of text. A writer keeps the
// batches of one, so that they bound the memory that writing takes.
const (
	RowGroupRows = 2 * schema.BatchRows
	RowGroupText = 4 * schema.BatchText
)

// rollupRows is RowGroupRows of function_rollup. What several metrics have of all
// experiments is the same but for the values, and stands far apart there.
const rollupRows = 8 * schema.BatchRows

// groupRows is how many rows a row group of a table has.
func groupRows(t *schema.Table) int {
	if t == schema.FunctionRollup {
		return rollupRows
	}
	return RowGroupRows
}

// magic is how Parquet files begin and end.
const magic = "PAR1"

// Writer writes the rows of a table to a Parquet file. After an error it only returns
// that error.
type Writer struct {
	table   *schema.Table
	effort  Effort
	sink    *sink
	footer  *footer
	pending []pendingRows // of the next row group
	rows    int           // in waiting
	text    int           // bytes of text in waiting
	batch   string        // the value of schema.ListedIn
	unnamed []rowGroup
	err     error
}

// rowGroup is a row group that is complete but for schema.ListedIn, which is the batch's name: while
// a batch is being filled, that is not known.
type rowGroup struct {
	rows    int
	columns []chunkMeta // with their places in pages
	pages   *bytes.Buffer
}

// sink knows how far the file was written.
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

// New begins a file; about is what its footer says besides, as keys and values in turn.
func New(out io.Writer, t *schema.Table, e Effort, about ...string) (*Writer, error) {
	end, err := newFooter(t, about)
	if err != nil {
		return nil, err
	}
	w := &Writer{table: t, effort: e, sink: &sink{out: bufio.NewWriter(out)}, footer: end}
	_, err = w.sink.Write([]byte(magic))
	return w, err
}

// Write appends rows. The batch stays the caller's, who must not change it.
func (w *Writer) Write(rows arrow.RecordBatch) error {
	if n := int(rows.NumCols()); n != len(w.table.Columns) {
		return fmt.Errorf("%d columns, the table has %d", n, len(w.table.Columns))
	}
	for from, n := 0, int(rows.NumRows()); from < n && w.err == nil; {
		until := w.until(rows, from, n)
		w.pending = append(w.pending, retain(rows, from, until))
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

// pendingRows are rows that wait to be written, by column.
type pendingRows struct {
	rows    int
	columns []columnPart
}

// retain returns some rows of a batch, to be released.
func retain(rows arrow.RecordBatch, from, until int) pendingRows {
	k := pendingRows{until - from, make([]columnPart, rows.NumCols())}
	for i, column := range rows.Columns() {
		if k.rows < int(rows.NumRows()) {
			column = array.NewSlice(column, int64(from), int64(until))
		} else {
			column.Retain()
		}
		k.columns[i].Array = column
	}
	return k
}

func (k *pendingRows) release() {
	for i := range k.columns {
		k.columns[i].Release()
	}
	*k = pendingRows{}
}

// So many batches of few rows become one: most of their memory, and of the garbage
// collector's work, is what describes their columns.
const (
	fewRows = 1 << 10
	joined  = 32
)

// join makes one batch of the last that wait, if these are many and small. It packs the last
// if it is large, but many of its size wait.
func (w *Writer) join() error {
	n := len(w.pending)
	large := func(k pendingRows) bool { return k.rows >= fewRows }
	switch {
	case n >= joined && !slices.ContainsFunc(w.pending[n-joined:], large):
		return w.pack(n - joined)
	case groupRows(w.table) > RowGroupRows && large(w.pending[n-1]):
		return w.pack(n - 1)
	}
	return nil
}

// pack makes one batch of what waits from the nth on, whose numbers take less memory.
func (w *Writer) pack(n int) error {
	several := w.pending[n:]
	all := pendingRows{columns: make([]columnPart, 0, len(w.table.Columns))}
	for _, k := range several {
		all.rows += k.rows
	}
	var r numberBuffers // mostly unused: few packed columns are packed again
	for i := range w.table.Columns {
		arrays := r.arrays(&w.table.Columns[i], several, i)
		column, err := joinPart(&w.table.Columns[i], arrays)
		releaseAll(arrays)
		if err != nil {
			all.release()
			return fmt.Errorf("column %s: %w", w.table.Columns[i].Name, err)
		}
		all.columns = append(all.columns, column)
	}
	for i := range several {
		several[i].release()
	}
	w.pending = append(w.pending[:n], all)
	return nil
}

func releaseAll(arrays []arrow.Array) {
	for _, a := range arrays {
		a.Release()
	}
}

// until returns where the row group ends among n rows of a batch, or n if it has room for
// all. That is the same row whatever batches rows come in.
func (w *Writer) until(rows arrow.RecordBatch, from, n int) int {
	until := min(n, from+groupRows(w.table)-w.rows)
	if w.text+textIn(rows, from, until) < RowGroupText {
		return until
	}
	return from + 1 + sort.Search(until-from-1, func(i int) bool {
		return w.text+textIn(rows, from, from+i+1) >= RowGroupText
	})
}

// textIn returns how many bytes of text rows have.
func textIn(rows arrow.RecordBatch, from, until int) (n int) {
	for _, column := range rows.Columns() {
		if texts, ok := column.(*array.String); ok && from < until {
			offsets := texts.ValueOffsets()
			n += int(offsets[until] - offsets[from])
		}
	}
	return n
}

// flush writes a row group of the rows that wait.
func (w *Writer) flush() error {
	defer w.release()
	out, pages := w.sink, &bytes.Buffer{}
	named := w.batch != "" || !w.table.Has(schema.ListedIn)
	if !named {
		out = &sink{out: bufio.NewWriter(pages), at: pagesFrom}
	} else if err := w.writeUnnamed(); err != nil { // those before it come first
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
			arrays := s.unpacked.arrays(c.column, w.pending, i)
			err = c.write(out, arrays)
			releaseAll(arrays)
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

// pagesFrom is the place of the first page of an unnamed row group: 0 is that of none.
const pagesFrom = 1

// SetBatch says which batch has the file: it is the value of schema.ListedIn in all rows, whatever they
// have there. Row groups that are complete before wait in memory, at the latest for Close.
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

// release forgets the rows that waited.
func (w *Writer) release() {
	for i := range w.pending {
		w.pending[i].release()
	}
	w.pending, w.rows, w.text = w.pending[:0], 0, 0
}

// Pending returns how much of the table is not written before Close, in values and bytes of
// text: what that takes is about proportional to it.
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
