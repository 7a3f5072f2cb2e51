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
	next int // batch
}

func (e *eventReader) Close() {}

// Next returns up to schema.BatchRows samples.
func (e *eventReader) Next() (arrow.RecordBatch, error) {
	if e.next == len(e.p.rows.batches) {
		return nil, nil
	}
	rows := &e.p.rows.batches[e.next]
	e.next++
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema.EventSchema(schema.Perf))
	defer b.Release()
	b.Reserve(len(rows.rows))
	f := e.r.files[0]
	if err := f.Guard(func() { e.fill(b, rows) }); err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	return b.NewRecordBatch(), nil
}

// fill appends the samples' columns in the order of the schema.
func (e *eventReader) fill(b *array.RecordBuilder, rows *rowBatch) {
	wide := func(i int) *array.Int64Builder { return b.Field(i).(*array.Int64Builder) }
	narrow := func(i int) *array.Int32Builder { return b.Field(i).(*array.Int32Builder) }
	time, thread, cpu, stack := wide(0), wide(1), narrow(2), narrow(3)
	event, period, address, weight, source, physical := narrow(4), wide(5), wide(6), wide(7), wide(8), wide(9)
	var s sample
	for i, row := range rows.rows {
		_, body := e.r.body(row.at)
		e.r.readSample(body, &s)
		a := &e.r.events[row.event].attr
		if rows.periods != nil && rows.periods[i] != asRecorded {
			s.period = rows.periods[i]
		}
		if !e.r.weightInBounds(&s) {
			s.weight = 0
		}
		time.UnsafeAppend(e.t.ns(e.r.when(&s, row.at)))
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
