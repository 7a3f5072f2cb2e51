package perfdata

import "stackmill/schema"

// row is a sample of a process, or the part of one that belongs to one event of
// a group, as in schema.EventSchema.
type row struct {
	time, period           int64
	tid, cpu, stack, event int32
	access                 [accessColumns]int64
}

// The columns that describe accesses to memory.
const (
	accessAddress = iota
	accessWeight
	accessSource
	accessPhysical
	accessColumns
)

// accessFields are the fields of samples that the columns come from.
var accessFields = [accessColumns]uint64{sampleAddr, sampleWeight | sampleWeightStruct, sampleDataSrc, samplePhysAddr}

// anyAccess are the accessFields of all columns.
const anyAccess = sampleAddr | sampleWeight | sampleWeightStruct | sampleDataSrc | samplePhysAddr

// rows are those of a process in the order of time, in pieces of one batch each: a
// single list would be copied whenever it grows.
type rows struct {
	batches []rowBatch
	n       int
}

// rowBatch has the columns of a batch. Those of accesses are nil if no event has them.
type rowBatch struct {
	time, period           []int64
	tid, cpu, stack, event []int32
	access                 [accessColumns][]int64
}

// newRowBatch returns a batch with room for n rows.
func newRowBatch(n int) rowBatch {
	wide := func() []int64 { return make([]int64, 0, n) }
	narrow := func() []int32 { return make([]int32, 0, n) }
	return rowBatch{time: wide(), period: wide(), tid: narrow(), cpu: narrow(), stack: narrow(), event: narrow()}
}

// add adds a row; fields are those of accesses that any event has.
func (l *rows) add(r *row, fields uint64) {
	if l.n%schema.BatchRows == 0 { // the first batch may stay small
		l.batches = append(l.batches, newRowBatch(min(l.n, schema.BatchRows)))
	}
	l.n++
	b := &l.batches[len(l.batches)-1]
	b.time, b.period = append(b.time, r.time), append(b.period, r.period)
	b.tid, b.cpu = append(b.tid, r.tid), append(b.cpu, r.cpu)
	b.stack, b.event = append(b.stack, r.stack), append(b.event, r.event)
	if fields == 0 {
		return
	}
	for i, f := range accessFields {
		if fields&f != 0 {
			b.access[i] = append(b.access[i], r.access[i])
		}
	}
}

// row returns a row.
func (b *rowBatch) row(i int) row {
	r := row{time: b.time[i], period: b.period[i], tid: b.tid[i], cpu: b.cpu[i], stack: b.stack[i], event: b.event[i]}
	for c, column := range b.access {
		if column != nil {
			r.access[c] = column[i]
		}
	}
	return r
}

// without removes the rows of some events, and returns how many there were.
func (l *rows) without(events map[int32]bool, fields uint64) (n int64) {
	var kept rows
	for _, b := range l.batches {
		for i, event := range b.event {
			if events[event] {
				n++
				continue
			}
			r := b.row(i)
			kept.add(&r, fields)
		}
	}
	*l = kept
	return n
}
