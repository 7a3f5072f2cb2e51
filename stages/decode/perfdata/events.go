package perfdata

import (
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// eventRows is the number of rows in a batch of events: fewer than schema.BatchRows, so that
// stages overlap in recordings of a few hundred thousand samples, but enough to be decoded ahead
// of them (pipeline/readahead.go).
const eventRows = schema.BatchRows / 2

// emptyReader reads the event kinds that perf does not record.
type emptyReader struct{}

func (emptyReader) Next() (arrow.RecordBatch, error) { return nil, nil }
func (emptyReader) Close()                           {}

// eventReader reads the rows of one process.
type eventReader struct {
	r    *reader
	rows *processRows
	next int      // index of the next part
	rest rowBatch // unread rows of the part before it
	out  int      // rows returned so far
}

// Close implements decode.EventReader.
func (e *eventReader) Close() {}

// Next returns the next eventRows samples, or the last ones.
func (e *eventReader) Next() (arrow.RecordBatch, error) {
	var b rowBatch
	for b.len() < eventRows {
		if e.rest.len() == 0 {
			if e.next == e.rows.parts() {
				break
			}
			var err error
			if e.rest, err = e.rows.part(e.next, e.r.in.space, e.r.found.accesses); err != nil {
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
		case n == eventRows || e.next == e.rows.parts(): // no copy is needed
			b = some
		default:
			b = newRowBatch(min(eventRows, e.rows.n-e.out), e.r.found.accesses)
			b.append(&some)
		}
	}
	if b.len() == 0 {
		return nil, nil
	}
	e.out += b.len()
	return b.record(), nil
}

// record makes a record batch that shares the columns' memory.
func (b *rowBatch) record() arrow.RecordBatch {
	n := b.len()
	threads := make([]int64, n)
	for i, tid := range b.tid {
		threads[i] = int64(tid)
	}
	names, groups := b.name, noCGroups()[:n]
	if names == nil {
		names = firstNames()[:n]
	}
	if list := b.access[accessCGroup]; list != nil {
		groups = make([]int32, n)
		for i, number := range list {
			groups[i] = int32(number)
		}
	}
	access := func(column int, absent func() []int64) arrow.Array {
		values := b.access[column]
		if values == nil {
			values = absent()[:n]
		}
		return schema.Int64s(values)
	}
	columns := []arrow.Array{ // in the order of the schema
		schema.Int64s(b.time), schema.Int64s(threads), schema.Int32s(b.cpu), schema.Int32s(b.stack), schema.Int32s(names), schema.Int32s(groups),
		schema.Int32s(b.event), schema.Int64s(b.period),
		access(accessAddress, unknown), access(accessWeight, zeros), access(accessSource, unknown), access(accessPhysical, unknown), access(accessExact, zeros),
	}
	return decode.NewBatch(schema.EventSchema(schema.Perf), columns)
}

// The columns of fields that no event has.
var (
	unknown    = sync.OnceValue(func() []int64 { return slices.Repeat([]int64{-1}, eventRows) })
	zeros      = sync.OnceValue(func() []int64 { return make([]int64, eventRows) })
	firstNames = sync.OnceValue(func() []int32 { return make([]int32, eventRows) })
	noCGroups  = sync.OnceValue(func() []int32 { return slices.Repeat([]int32{noCGroup}, eventRows) })
)
