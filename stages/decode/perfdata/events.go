package perfdata

import (
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

// none is the reader of kinds that perf does not record.
type none struct{}

func (none) Next() (arrow.RecordBatch, error) { return nil, nil }
func (none) Close()                           {}

// eventReader hands out the rows of one process.
type eventReader struct {
	rows *rows
	next int // batch
}

func (e *eventReader) Close() {}

// Next returns up to schema.BatchRows samples.
func (e *eventReader) Next() (arrow.RecordBatch, error) {
	if e.next == len(e.rows.batches) {
		return nil, nil
	}
	b := &e.rows.batches[e.next]
	e.next++
	return b.record(), nil
}

// record makes a batch of the columns, which it shares.
func (b *rowBatch) record() arrow.RecordBatch {
	n := len(b.time)
	threads := make([]int64, n)
	for i, tid := range b.tid {
		threads[i] = int64(tid)
	}
	access := func(column int, absent func() []int64) arrow.Array {
		values := b.access[column]
		if values == nil {
			values = absent()[:n]
		}
		return schema.Int64s(values)
	}
	columns := []arrow.Array{ // in the order of the schema
		schema.Int64s(b.time), schema.Int64s(threads), schema.Int32s(b.cpu), schema.Int32s(b.stack),
		schema.Int32s(b.event), schema.Int64s(b.period),
		access(accessAddress, unknown), access(accessWeight, weightless), access(accessSource, unknown), access(accessPhysical, unknown),
	}
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	return array.NewRecordBatch(schema.EventSchema(schema.Perf), columns, int64(n))
}

// The columns of fields that no event has.
var (
	unknown    = sync.OnceValue(func() []int64 { return slices.Repeat([]int64{-1}, schema.BatchRows) })
	weightless = sync.OnceValue(func() []int64 { return make([]int64, schema.BatchRows) })
)
