package perfdata

import (
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/spill"
	"stackmill/schema"
)

// row is a sample of a process, or the part of a sample of an event group that belongs to one
// counter. Its columns are those of schema.EventSchema.
type row struct {
	wide   [wideColumns]int64
	narrow [narrowColumns]int32
}

// The 64-bit columns.
const (
	rowTime = iota
	rowPeriod
	rowAddress
	rowWeight
	rowSource
	rowPhysical
	rowExact
	rowParallelism // how many threads were on a CPU; -1 if unknown
	rowRecord      // recordOffset of a sample with tracepoint fields, -1 for others
	rowWaker       // of waits and states: the sample that woke up the thread, see wakerShift
	wideColumns
)

// The 32-bit columns.
const (
	rowThread = iota
	rowCPU
	rowStack
	rowEvent
	rowName   // number of the thread's name
	rowCGroup // index in Recording.CGroups
	narrowColumns
)

// The flags of columns that only some recordings have: a column exists if an event has one of its
// fields. 0: all recordings have the column.
var (
	wideFields = [wideColumns]uint64{rowAddress: sampleAddr, rowWeight: sampleWeight | sampleWeightStruct,
		rowSource: sampleDataSrc, rowPhysical: samplePhysAddr, rowExact: exactSamples,
		rowParallelism: parallelisms, rowRecord: recordOffsets, rowWaker: wakers}
	narrowFields = [narrowColumns]uint64{rowName: renamed, rowCGroup: sampleCgroup}
)

// Flags beside the sample_type bits. In order: some samples have the exact address of their
// instruction, as their headers say; some thread has several names; the number of threads on CPUs
// is known; some events have tracepoint fields; the rows are waits or states, which have wakers.
const (
	exactSamples  = 1 << 63
	renamed       = 1 << 62
	parallelisms  = 1 << 61
	recordOffsets = 1 << 60
	wakers        = 1 << 59
)

// The flags of the columns in rows of states and of waits.
const (
	stateFields = renamed | wakers
	waitFields  = renamed | wakers | sampleCgroup
)

// anyAccess are the fields of memory accesses.
const anyAccess = sampleAddr | sampleWeight | sampleWeightStruct | sampleDataSrc | samplePhysAddr | exactSamples

// rowFields are the sample fields that have columns of their own.
const rowFields = anyAccess | sampleCgroup

// hasColumn reports whether rows have the column of a field. fields are the rowFields that at least
// one event has.
func hasColumn(field, fields uint64) bool { return field == 0 || fields&field != 0 }

// rowSize returns the size of a row in bytes.
func rowSize(fields uint64) (size int64) {
	for _, f := range wideFields {
		if hasColumn(f, fields) {
			size += 8
		}
	}
	for _, f := range narrowFields {
		if hasColumn(f, fields) {
			size += 4
		}
	}
	return size
}

// processRows are the rows of a process in order of time. The last rows are in memory, in batches
// that are never copied. Each new batch has room for as many rows as are already in memory, up to a
// full batch.
type processRows struct {
	spilled []spilledRows
	batches []rowBatch // all batches but the last are full
	n       int
}

// spilledRows is a batch in the temporary space.
type spilledRows struct {
	at int64
	n  int32
}

// rowBatch is a batch of rows as columns. Columns that the rows do not have are nil.
type rowBatch struct {
	wide   [wideColumns][]int64
	narrow [narrowColumns][]int32
}

// newRowBatch returns a batch with room for n rows.
func newRowBatch(n int, fields uint64) (b rowBatch) {
	for i, f := range wideFields {
		if hasColumn(f, fields) {
			b.wide[i] = make([]int64, 0, n)
		}
	}
	for i, f := range narrowFields {
		if hasColumn(f, fields) {
			b.narrow[i] = make([]int32, 0, n)
		}
	}
	return b
}

// fewRows is the capacity of the first batch.
const fewRows = 8

// add appends rows.
func (l *processRows) add(some rowBatch, fields uint64) {
	for some.len() > 0 {
		b := l.last(fields)
		n := min(some.len(), b.room())
		own := some.part(0, n)
		b.append(&own)
		some = some.part(n, some.len())
		l.n += n
	}
}

// last returns the last batch, or a new one if the last is full.
func (l *processRows) last(fields uint64) *rowBatch {
	n := len(l.batches) - 1
	if n < 0 || l.batches[n].room() == 0 {
		l.batches = append(l.batches, newRowBatch(min(max(l.inMemory(), fewRows), schema.BatchRows), fields))
		n++
	}
	return &l.batches[n]
}

// addRow appends a row.
func (l *processRows) addRow(r *row, fields uint64) {
	l.last(fields).add(r)
	l.n++
}

// inMemory returns the number of rows that are not spilled.
func (l *processRows) inMemory() (n int) {
	for i := range l.batches {
		n += l.batches[i].len()
	}
	return n
}

// add appends a row.
func (b *rowBatch) add(r *row) {
	for i := range b.wide { // column by column, so that only lengths change, not pointers
		if b.wide[i] != nil {
			b.wide[i] = append(b.wide[i], r.wide[i])
		}
	}
	for i := range b.narrow {
		if b.narrow[i] != nil {
			b.narrow[i] = append(b.narrow[i], r.narrow[i])
		}
	}
}

// reset empties the batch; a batch without memory gets room for n rows.
func (b *rowBatch) reset(n int, fields uint64) {
	if b.wide[rowTime] == nil {
		*b = newRowBatch(n, fields)
	}
	*b = b.part(0, 0)
}

// room returns how many more rows fit into the batch's memory.
func (b *rowBatch) room() int { return cap(b.wide[rowTime]) - b.len() }

// spill moves the rows in memory to the temporary space.
func (l *processRows) spill(to *spill.Space) error {
	var whole []byte
	for i := range l.batches {
		b := &l.batches[i]
		whole = whole[:0]
		for _, column := range b.columns() {
			whole = append(whole, column...)
		}
		at, err := to.Append(whole)
		if err != nil {
			return err
		}
		l.spilled = append(l.spilled, spilledRows{at, int32(b.len())})
	}
	l.batches = nil
	return nil
}

// parts returns the number of batches.
func (l *processRows) parts() int { return len(l.spilled) + len(l.batches) }

// part returns a batch of the rows, which the caller may not change.
func (l *processRows) part(i int, from *spill.Space, fields uint64) (rowBatch, error) {
	if i < len(l.spilled) {
		return l.spilled[i].read(from, fields)
	}
	return l.batches[i-len(l.spilled)], nil
}

// read reads spilled rows.
func (a spilledRows) read(from *spill.Space, fields uint64) (rowBatch, error) {
	b := newRowBatch(int(a.n), fields).part(0, int(a.n))
	at := a.at
	for _, column := range b.columns() {
		if err := from.ReadAt(column, at); err != nil {
			return rowBatch{}, err
		}
		at += int64(len(column))
	}
	return b, nil
}

func (b *rowBatch) len() int { return len(b.wide[rowTime]) }

// columns returns the columns as bytes.
func (b *rowBatch) columns() (list [][]byte) {
	for _, column := range b.wide {
		list = append(list, arrow.GetBytes(column))
	}
	for _, column := range b.narrow {
		list = append(list, arrow.GetBytes(column))
	}
	return list
}

// part returns the rows from..to (exclusive). to may exceed the length, up to the capacity.
func (b rowBatch) part(from, to int) rowBatch {
	for i, column := range b.wide {
		if column != nil {
			b.wide[i] = column[from:to]
		}
	}
	for i, column := range b.narrow {
		if column != nil {
			b.narrow[i] = column[from:to]
		}
	}
	return b
}

// append appends the rows of another batch.
func (b *rowBatch) append(o *rowBatch) {
	for i, column := range o.wide {
		b.wide[i] = append(b.wide[i], column...)
	}
	for i, column := range o.narrow {
		b.narrow[i] = append(b.narrow[i], column...)
	}
}

// eventRows is the number of rows in a batch of events. It is less than schema.BatchRows, so that
// stages overlap in recordings of a few hundred thousand samples, but large enough for batches to
// be decoded ahead of the stages (pipeline/readahead.go).
const eventRows = schema.BatchRows / 2

// emptyReader is the event reader of the kinds that perf does not record.
type emptyReader struct{}

func (emptyReader) Next() (arrow.RecordBatch, error) { return nil, nil }
func (emptyReader) Close()                           {}

// eventReader reads the rows of one process.
type eventReader struct {
	r      *reader
	rows   *processRows
	fields uint64 // rowFields of the rows
	record func(*rowBatch) arrow.RecordBatch
	next   int      // index of the next part
	rest   rowBatch // unread rows of the previous part
	out    int      // rows returned so far
}

// Close implements decode.EventReader.
func (e *eventReader) Close() {}

// Next returns the next eventRows rows, or fewer at the end.
func (e *eventReader) Next() (arrow.RecordBatch, error) {
	var b rowBatch
	for b.len() < eventRows {
		if e.rest.len() == 0 {
			if e.next == e.rows.parts() {
				break
			}
			var err error
			if e.rest, err = e.rows.part(e.next, e.r.in.space, e.fields); err != nil {
				return nil, err
			}
			e.next++
		}
		n := min(e.rest.len(), eventRows-b.len())
		some := e.rest.part(0, n)
		e.rest = e.rest.part(n, e.rest.len())
		switch {
		case b.len() > 0:
			b.append(&some)
		case n == eventRows || e.next == e.rows.parts(): // some is the whole batch: no copy is needed
			b = some
		default:
			b = newRowBatch(min(eventRows, e.rows.n-e.out), e.fields)
			b.append(&some)
		}
	}
	if b.len() == 0 {
		return nil, nil
	}
	e.out += b.len()
	return e.record(&b), nil
}

// common returns the columns that all kinds of events have, in the order of the schema.
func (b *rowBatch) common() []arrow.Array {
	n := b.len()
	threads := make([]int64, n)
	for i, tid := range b.narrow[rowThread] {
		threads[i] = int64(tid)
	}
	narrow := func(column int, absent func() []int32) arrow.Array {
		values := b.narrow[column]
		if values == nil {
			values = absent()[:n]
		}
		return schema.Int32s(values)
	}
	return []arrow.Array{
		schema.Int64s(b.wide[rowTime]), schema.Int64s(threads), schema.Int32s(b.narrow[rowCPU]), schema.Int32s(b.narrow[rowStack]),
		narrow(rowName, firstNames), narrow(rowCGroup, noCGroups),
	}
}

// Values for columns that the rows do not have.
var (
	unknown    = sync.OnceValue(func() []int64 { return slices.Repeat([]int64{-1}, eventRows) })
	zeros      = sync.OnceValue(func() []int64 { return make([]int64, eventRows) })
	firstNames = sync.OnceValue(func() []int32 { return make([]int32, eventRows) })
	noCGroups  = sync.OnceValue(func() []int32 { return slices.Repeat([]int32{noCGroup}, eventRows) })
)
