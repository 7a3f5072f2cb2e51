package perfdata

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
)

// none reads the events of a kind that perf does not record.
type none struct{}

func (none) Next() (arrow.RecordBatch, error) { return nil, nil }
func (none) Close()                           {}

// eventReader reads the samples of one process again, in the order of their time.
type eventReader struct {
	r    *reader
	t    *timeline
	p    *process
	next int
}

func (e *eventReader) Close() {}

// Next returns up to schema.BatchRows samples.
func (e *eventReader) Next() (arrow.RecordBatch, error) {
	n := min(schema.BatchRows, len(e.p.rows)-e.next)
	if n == 0 {
		return nil, nil
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema.EventSchema(schema.Perf))
	defer b.Release()
	b.Reserve(n)
	f := e.r.files[0]
	if err := f.Guard(func() { e.fill(b, n) }); err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	e.next += n
	return b.NewRecordBatch(), nil
}

// fill appends the next n samples' columns in the order of the schema.
func (e *eventReader) fill(b *array.RecordBuilder, n int) {
	wide := func(i int) *array.Int64Builder { return b.Field(i).(*array.Int64Builder) }
	narrow := func(i int) *array.Int32Builder { return b.Field(i).(*array.Int32Builder) }
	time, thread, cpu, stack := wide(0), wide(1), narrow(2), narrow(3)
	event, period, address, weight, source, physical := narrow(4), wide(5), wide(6), wide(7), wide(8), wide(9)
	var s sample
	for i, row := range e.p.rows[e.next : e.next+n] {
		_, body := e.r.body(row.at)
		e.r.readSample(body, &s)
		a := &e.r.events[row.event].attr
		if e.p.periods != nil {
			s.period = e.p.periods[e.next+i]
		}
		time.UnsafeAppend(e.t.ns(s.when()))
		thread.UnsafeAppend(int64(s.tid))
		cpu.UnsafeAppend(s.cpu)
		stack.UnsafeAppend(row.stack)
		event.UnsafeAppend(row.event)
		period.UnsafeAppend(int64(s.period))
		address.UnsafeAppend(recorded(s.addr, a.sampleType&sampleAddr != 0))
		weight.UnsafeAppend(int64(s.weight))
		source.UnsafeAppend(recorded(s.dataSource, a.sampleType&sampleDataSrc != 0 && s.dataSource != unavailable))
		physical.UnsafeAppend(recorded(s.physical, a.sampleType&samplePhysAddr != 0))
	}
}

// recorded is -1 for what is not.
func recorded(v uint64, ok bool) int64 {
	if !ok {
		return -1
	}
	return int64(v)
}
