package perfdata

import (
	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/spill"
	"stackmill/schema"
)

// row is a sample of a process, or a counter's part of a sample of an event group, as in
// schema.EventSchema.
type row struct {
	time, period           int64
	tid, cpu, stack, event int32
	name                   int32 // number of the thread's name
	access                 [accessColumns]int64
}

// The columns that only some recordings have.
const (
	accessAddress = iota
	accessWeight
	accessSource
	accessPhysical
	accessExact
	accessCGroup // index in Recording.CGroups
	accessColumns
)

// accessFields are the sample fields of the columns.
var accessFields = [accessColumns]uint64{sampleAddr, sampleWeight | sampleWeightStruct, sampleDataSrc, samplePhysAddr, exactSamples, sampleCgroup}

// exactSamples is a flag next to the sample_type bits: some samples have the exact address of
// their instruction, as their headers say.
const exactSamples = 1 << 63

// anyAccess are the fields of memory accesses.
const anyAccess = sampleAddr | sampleWeight | sampleWeightStruct | sampleDataSrc | samplePhysAddr | exactSamples

// rowFields are the fields with columns of their own. The flag renamed adds the column of thread
// names, if some thread has several.
const (
	rowFields = anyAccess | sampleCgroup
	renamed   = 1 << 62
)

// rowSize returns the size of a row in bytes.
func rowSize(fields uint64) int64 {
	size := int64(2*8 + 4*4)
	if fields&renamed != 0 {
		size += 4
	}
	for _, f := range accessFields {
		if fields&f != 0 {
			size += 8
		}
	}
	return size
}

// processRows are the rows of a process in order of time. The last ones are in memory, in batches
// that are never copied: each has room for as many rows as are in memory before it, up to a full
// batch.
type processRows struct {
	spilled []spilledRows
	batches []rowBatch // all full but the last
	n       int
}

// spilledRows is a batch in the temporary space.
type spilledRows struct {
	at int64
	n  int32
}

// rowBatch is a batch of rows as columns. Access columns are nil if no event has the field, name
// is nil if no thread has several names.
type rowBatch struct {
	time, period           []int64
	tid, cpu, stack, event []int32
	name                   []int32
	access                 [accessColumns][]int64
}

// newRowBatch returns a batch with room for n rows; fields are the rowFields that any event has.
func newRowBatch(n int, fields uint64) rowBatch {
	wide := func() []int64 { return make([]int64, 0, n) }
	narrow := func() []int32 { return make([]int32, 0, n) }
	b := rowBatch{time: wide(), period: wide(), tid: narrow(), cpu: narrow(), stack: narrow(), event: narrow()}
	if fields&renamed != 0 {
		b.name = narrow()
	}
	for i, f := range accessFields {
		if fields&f != 0 {
			b.access[i] = wide()
		}
	}
	return b
}

// fewRows is the capacity of the first batch.
const fewRows = 64

// add appends rows; fields are the rowFields that any event has.
func (l *processRows) add(some rowBatch, fields uint64) {
	for some.len() > 0 {
		last := len(l.batches) - 1
		if last < 0 || l.batches[last].room() == 0 {
			l.batches = append(l.batches, newRowBatch(min(max(l.inMemory(), fewRows), schema.BatchRows), fields))
			last++
		}
		b := &l.batches[last]
		n := min(some.len(), b.room())
		own := some.part(0, n)
		b.append(&own)
		some = some.part(n, some.len())
		l.n += n
	}
}

// inMemory returns the number of rows in memory.
func (l *processRows) inMemory() (n int) {
	for i := range l.batches {
		n += l.batches[i].len()
	}
	return n
}

// add appends a row.
func (b *rowBatch) add(r *row) {
	b.time = append(b.time, r.time) // column by column: only lengths change, not pointers
	b.period = append(b.period, r.period)
	b.tid = append(b.tid, r.tid)
	b.cpu = append(b.cpu, r.cpu)
	b.stack = append(b.stack, r.stack)
	b.event = append(b.event, r.event)
	if b.name != nil {
		b.name = append(b.name, r.name)
	}
	for i := range b.access {
		if b.access[i] != nil {
			b.access[i] = append(b.access[i], r.access[i])
		}
	}
}

// reset empties the batch; a batch without memory gets room for n rows.
func (b *rowBatch) reset(n int, fields uint64) {
	if b.time == nil {
		*b = newRowBatch(n, fields)
	}
	*b = b.part(0, 0)
}

// room returns for how many more rows there is memory.
func (b *rowBatch) room() int { return cap(b.time) - b.len() }

// spill moves the rows in memory to the space.
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

func (b *rowBatch) len() int { return len(b.time) }

// columns returns the columns as bytes.
func (b *rowBatch) columns() [][]byte {
	list := [][]byte{
		arrow.GetBytes(b.time), arrow.GetBytes(b.period),
		arrow.GetBytes(b.tid), arrow.GetBytes(b.cpu), arrow.GetBytes(b.stack), arrow.GetBytes(b.event),
	}
	list = append(list, arrow.GetBytes(b.name))
	for _, column := range b.access {
		list = append(list, arrow.GetBytes(column))
	}
	return list
}

// part returns the rows from..to, which may reach beyond the length, up to the capacity.
func (b rowBatch) part(from, to int) rowBatch {
	p := rowBatch{
		time: b.time[from:to], period: b.period[from:to],
		tid: b.tid[from:to], cpu: b.cpu[from:to], stack: b.stack[from:to], event: b.event[from:to],
	}
	if b.name != nil {
		p.name = b.name[from:to]
	}
	for i, column := range b.access {
		if column != nil {
			p.access[i] = column[from:to]
		}
	}
	return p
}

// append appends the rows of another batch.
func (b *rowBatch) append(o *rowBatch) {
	b.time, b.period = append(b.time, o.time...), append(b.period, o.period...)
	b.tid, b.cpu = append(b.tid, o.tid...), append(b.cpu, o.cpu...)
	b.stack, b.event = append(b.stack, o.stack...), append(b.event, o.event...)
	if o.name != nil {
		b.name = append(b.name, o.name...)
	}
	for i, column := range o.access {
		if column != nil {
			b.access[i] = append(b.access[i], column...)
		}
	}
}
