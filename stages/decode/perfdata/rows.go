package perfdata

import (
	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/spill"
	"stackmill/schema"
)

// row is a sample of a process, or the part of one that belongs to one event of
// a group, as in schema.EventSchema.
type row struct {
	time, period           int64
	tid, cpu, stack, event int32
	name                   int32 // the number of the thread's name
	access                 [accessColumns]int64
}

// The columns that not all recordings have.
const (
	accessAddress = iota
	accessWeight
	accessSource
	accessPhysical
	accessExact
	accessCGroup // its number
	accessColumns
)

// accessFields are the fields of samples that the columns come from.
var accessFields = [accessColumns]uint64{sampleAddr, sampleWeight | sampleWeightStruct, sampleDataSrc, samplePhysAddr, exactSamples, sampleCgroup}

// exactSamples stands among the bits of sample_type for a bit of the record's header: samples
// may have the exact address of their instruction.
const exactSamples = 1 << 63

// anyAccess are the fields that describe accesses to memory.
const anyAccess = sampleAddr | sampleWeight | sampleWeightStruct | sampleDataSrc | samplePhysAddr | exactSamples

// rowFields are the fields that make columns of their own. renamed stands among them for the
// names of threads, where one has several.
const (
	rowFields = anyAccess | sampleCgroup
	renamed   = 1 << 62
)

// rowSize is the size of a row in bytes.
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

// rows are those of a process in the order of time. The latest are in memory, in pieces
// that are never copied: each has room for as many as are in memory before it, up to a batch.
type rows struct {
	aside   []asideRows
	batches []rowBatch // all full but the last
	n       int
}

// asideRows are a batch that was put aside, in the space.
type asideRows struct {
	at int64
	n  int32
}

// rowBatch has the columns of a batch. Those of accesses are nil if no event has them, and
// the one of names if all threads have one.
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

// fewRows is how many rows the first piece has room for.
const fewRows = 64

// add adds some rows; fields are the rowFields that any event has.
func (l *rows) add(some rowBatch, fields uint64) {
	for some.len() > 0 {
		last := len(l.batches) - 1
		if last < 0 || l.batches[last].room() == 0 {
			l.batches = append(l.batches, newRowBatch(min(max(l.kept(), fewRows), schema.BatchRows), fields))
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

// kept is how many rows are in memory.
func (l *rows) kept() (n int) {
	for i := range l.batches {
		n += l.batches[i].len()
	}
	return n
}

// add adds a row.
func (b *rowBatch) add(r *row) {
	b.time = append(b.time, r.time) // each by itself: only lengths change then, not pointers
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

// reset empties the batch; if it has no memory, it gets room for n rows.
func (b *rowBatch) reset(n int, fields uint64) {
	if b.time == nil {
		*b = newRowBatch(n, fields)
	}
	*b = b.part(0, 0)
}

// room is for how many more rows there is memory.
func (b *rowBatch) room() int { return cap(b.time) - b.len() }

// putAside moves the rows in memory to a space.
func (l *rows) putAside(to *spill.Space) error {
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
		l.aside = append(l.aside, asideRows{at, int32(b.len())})
	}
	l.batches = nil
	return nil
}

// parts is in how many parts of up to a batch the rows are.
func (l *rows) parts() int { return len(l.aside) + len(l.batches) }

// part returns a part of the rows, which is not to be changed.
func (l *rows) part(i int, from *spill.Space, fields uint64) (rowBatch, error) {
	if i < len(l.aside) {
		return l.aside[i].read(from, fields)
	}
	return l.batches[i-len(l.aside)], nil
}

// read returns rows that were put aside.
func (a asideRows) read(from *spill.Space, fields uint64) (rowBatch, error) {
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

// columns returns the memory of the columns.
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

// part returns some of the rows; they may be beyond the length, up to the capacity.
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

// append adds the rows of another batch.
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
