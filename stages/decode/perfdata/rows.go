package perfdata

import "stackmill/schema"

// row is a sample of a process, or the part of one that belongs to one event of
// a group, as in schema.EventSchema.
type row struct {
	time, period            int64
	tid, cpu, stack, event  int32
	address, weight         int64
	dataSource, physAddress int64
}

// rows are a process's, in the order of time, in pieces of one batch each: one
// long list would be copied whenever it grows.
type rows struct {
	batches []rowBatch
	n       int
}

// rowBatch has the columns of a batch. The columns that describe accesses to memory
// are nil if no event has them.
type rowBatch struct {
	time, period            []int64
	tid, cpu, stack, event  []int32
	address, weight         []int64
	dataSource, physAddress []int64
}

// The fields of samples that only accesses to memory have.
const (
	weightFields = sampleWeight | sampleWeightStruct
	accessFields = sampleAddr | weightFields | sampleDataSrc | samplePhysAddr
)

// add adds a row; fields are those of accessFields that any event has.
func (l *rows) add(r *row, fields uint64) {
	if l.n%schema.BatchRows == 0 {
		l.batches = append(l.batches, rowBatch{})
	}
	l.n++
	b := &l.batches[len(l.batches)-1]
	b.time, b.period = append(b.time, r.time), append(b.period, r.period)
	b.tid, b.cpu = append(b.tid, r.tid), append(b.cpu, r.cpu)
	b.stack, b.event = append(b.stack, r.stack), append(b.event, r.event)
	if fields == 0 {
		return
	}
	if fields&sampleAddr != 0 {
		b.address = append(b.address, r.address)
	}
	if fields&weightFields != 0 {
		b.weight = append(b.weight, r.weight)
	}
	if fields&sampleDataSrc != 0 {
		b.dataSource = append(b.dataSource, r.dataSource)
	}
	if fields&samplePhysAddr != 0 {
		b.physAddress = append(b.physAddress, r.physAddress)
	}
}

// row returns a row.
func (b *rowBatch) row(i int) row {
	r := row{time: b.time[i], period: b.period[i], tid: b.tid[i], cpu: b.cpu[i], stack: b.stack[i], event: b.event[i]}
	for _, c := range []struct {
		from []int64
		to   *int64
	}{{b.address, &r.address}, {b.weight, &r.weight}, {b.dataSource, &r.dataSource}, {b.physAddress, &r.physAddress}} {
		if c.from != nil {
			*c.to = c.from[i]
		}
	}
	return r
}

// without takes out the rows of some events, and returns how many there were.
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
