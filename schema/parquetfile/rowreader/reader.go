// Package rowreader reads the Parquet files of tables.
package rowreader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"stackmill/schema"
)

// Reader reads columns of a table's file, the rows of one experiment at a time. It keeps the row
// group read last, which small experiments share. It is safe for concurrent use.
type Reader struct {
	table         *schema.Table
	columns       []string
	file          *file.Reader
	arrow         *pqarrow.FileReader
	columnIndexes []int // file's indexes of experiment_id and those requested columns that it has

	mu    sync.Mutex
	group *rowGroup
}

// rowGroup is a row group in memory.
type rowGroup struct {
	number  int
	batches []arrow.RecordBatch   // the columns' rows, without experiment_id
	runs    map[string][]rowRange // by experiment
}

// rowRange is the rows [from, to) of a batch of the row group: all are of one experiment.
type rowRange struct{ batch, from, to int }

// Open opens a table's file for some columns. The Reader does not close it.
func Open(f parquet.ReaderAtSeeker, t *schema.Table, columns ...string) (*Reader, error) {
	pq, err := file.NewParquetReader(f)
	if err != nil {
		return nil, err
	}
	r := &Reader{table: t, columns: columns, file: pq}
	props := pqarrow.ArrowReadProperties{BatchSize: schema.BatchRows}
	for _, name := range append([]string{t.Columns[0].Name}, columns...) {
		at := pq.MetaData().Schema.ColumnIndexByName(name)
		if at < 0 {
			return nil, fmt.Errorf("table %s: the file has no column %s", t.Name, name)
		}
		if name == t.Columns[0].Name || t.Columns[t.Index(name)].Type == schema.Label {
			props.SetReadDict(at, true)
		}
		r.columnIndexes = append(r.columnIndexes, at)
	}
	r.arrow, err = pqarrow.NewFileReader(pq, props, memory.DefaultAllocator)
	return r, err
}

// Rows returns the rows of an experiment, at most n, beginning with its from-th (from 0).
func (r *Reader) Rows(experimentID string, from, n int64) *Rows {
	return &Rows{reader: r, id: experimentID, skip: from, left: n}
}

// Rows are rows of one experiment, in the order of the file.
type Rows struct {
	reader     *Reader
	id         string
	skip, left int64
	next       int // the next row group
	group      *rowGroup
	runs       []rowRange // the remaining ones of the group
}

// Next returns the next rows, nil at the end, with the columns in the requested order. The caller
// releases them.
func (r *Rows) Next() (arrow.RecordBatch, error) {
	for r.left > 0 {
		if len(r.runs) == 0 {
			if r.next >= r.reader.file.NumRowGroups() {
				return nil, nil
			}
			if err := r.enterGroup(r.next); err != nil {
				return nil, err
			}
			r.next++
			continue
		}
		next := r.runs[0]
		r.runs = r.runs[1:]
		if n := int64(next.to - next.from); n <= r.skip {
			r.skip -= n
			continue
		}
		next.from += int(r.skip)
		r.skip = 0
		next.to = int(min(int64(next.to), int64(next.from)+r.left))
		r.left -= int64(next.to - next.from)
		return r.group.batches[next.batch].NewSlice(int64(next.from), int64(next.to)), nil
	}
	return nil, nil
}

// enterGroup moves on to a row group; it reads it only if it may have requested rows.
func (r *Rows) enterGroup(number int) error {
	meta := r.reader.file.MetaData().RowGroup(number)
	low, high, known := r.reader.bounds(meta)
	switch {
	case known && (r.id < low || r.id > high):
		return nil
	case known && low == high && meta.NumRows() <= r.skip:
		r.skip -= meta.NumRows()
		return nil
	}
	g, err := r.reader.read(number)
	if err != nil {
		return fmt.Errorf("table %s: row group %d: %w", r.reader.table.Name, number, err)
	}
	r.group, r.runs = g, g.runs[r.id]
	return nil
}

// bounds returns the lowest and highest experiment id in a row group; known is false if the file
// does not say.
func (r *Reader) bounds(meta *metadata.RowGroupMetaData) (low, high string, known bool) {
	c, err := meta.ColumnChunk(r.columnIndexes[0])
	if err != nil {
		return "", "", false
	}
	s, err := c.Statistics()
	texts, ok := s.(*metadata.ByteArrayStatistics)
	if err != nil || !ok || !texts.HasMinMax() {
		return "", "", false
	}
	return string(texts.Min()), string(texts.Max()), true
}

// read reads a row group, unless it is the last one that was read.
func (r *Reader) read(number int) (*rowGroup, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.group != nil && r.group.number == number {
		return r.group, nil
	}
	g := &rowGroup{number: number, runs: map[string][]rowRange{}}
	places := slices.Sorted(slices.Values(r.columnIndexes))
	records, err := r.arrow.GetRecordReader(context.Background(), places, []int{number})
	if err != nil {
		return nil, err
	}
	defer records.Release()
	for records.Next() {
		if err := g.add(records.RecordBatch(), r.table.Columns[0].Name, r.columns); err != nil {
			return nil, err
		}
	}
	if err := records.Err(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	r.group = g // others may still use the old one, so the garbage collector frees it
	return g, nil
}

// add adds a batch of rows to the row group.
func (g *rowGroup) add(rows arrow.RecordBatch, id string, columns []string) error {
	named := schema.Events{RecordBatch: rows}
	ids, ok := named.Column(id).(*array.Dictionary)
	if !ok {
		return fmt.Errorf("column %s is %s", id, named.Column(id).DataType())
	}
	names, ok := ids.Dictionary().(*array.String)
	if !ok {
		return fmt.Errorf("column %s has a dictionary of %s", id, ids.Dictionary().DataType())
	}
	for from, n := 0, ids.Len(); from < n; {
		to := from + 1
		for value := ids.GetValueIndex(from); to < n && ids.GetValueIndex(to) == value; {
			to++
		}
		name := names.Value(ids.GetValueIndex(from))
		g.runs[name] = append(g.runs[name], rowRange{len(g.batches), from, to})
		from = to
	}
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for i, name := range columns {
		arrays[i] = named.Column(name)
		fields[i] = arrow.Field{Name: name, Type: arrays[i].DataType(), Nullable: true}
	}
	g.batches = append(g.batches, array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, rows.NumRows()))
	return nil
}
