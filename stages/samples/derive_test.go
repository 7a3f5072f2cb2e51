package samples

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"stackmill/internal/spill"
	"stackmill/schema"
	"stackmill/stages/decode"
)

// event are the columns of an event that are not 0. Control groups count from 1.
type event map[string]int64

// eventBatch makes a batch of events; texts are the column of strings, if there is one.
func eventBatch(alloc memory.Allocator, k schema.Kind, events []event, texts ...string) arrow.RecordBatch {
	b := array.NewRecordBuilder(alloc, schema.EventSchema(k))
	defer b.Release()
	for n, e := range events {
		for i, field := range b.Schema().Fields() {
			switch f := b.Field(i).(type) {
			case *array.Int64Builder:
				f.Append(e[field.Name])
			case *array.Int32Builder:
				if field.Name == "cgroup" {
					f.Append(int32(e[field.Name]) - 1)
					continue
				}
				f.Append(int32(e[field.Name]))
			case *array.StringBuilder:
				f.Append(texts[n])
			}
		}
	}
	return b.NewRecordBatch()
}

// text returns the values of columns of the batch's table, by sample.
func (b *Batch) text(columns ...string) (rows [][]string) {
	rows = make([][]string, b.Len())
	for _, name := range columns {
		c := b.column(name)
		for i := range rows {
			rows[i] = append(rows[i], c.ValueStr(i))
		}
	}
	return rows
}

// Columns that a sample's record does not hold are derived, by kind; all others are as recorded, and
// every batch is released completely.
func TestDerive(t *testing.T) {
	const none = "(null)"
	rec := &decode.Recording{ClockMHz: 2000}
	p := &decode.Process{Number: 1,
		Kinds:    []decode.KindInfo{{Kind: schema.Clock, TickNS: 1_000_000}},
		Counters: []decode.Counter{{Tag: 4, Name: "cycles", TimeUnit: true}, {Tag: 5, Name: "insts"}, {Tag: 6, Name: "cycles", TimeUnit: true}},
	}
	for _, c := range []struct {
		kind    schema.Kind
		events  []event
		texts   []string
		columns []string
		want    [][]string
	}{
		{schema.Clock, []event{{"state": 7, "ticks": 3, "omp_state": -1}}, nil,
			[]string{"state", "duration_ns", "omp_state"}, [][]string{{"7", "3000000", "-1"}}},
		{schema.Sync, []event{{"time_ns": 10_999, "requested_ns": 1000, "object": 0x10}, {"time_ns": 5, "requested_ns": 0}}, nil,
			[]string{"duration_ns", "metric_ns", "object"}, [][]string{{"9999", "9000", "16"}, {"0", "0", "0"}}},
		{schema.IO, []event{
			{"operation": ioOpen, "fd": 3, "file_system": 22, "time_ns": 1500, "requested_ns": 1},
			{"operation": ioRead, "fd": 3, "bytes": 10, "time_ns": 9000, "requested_ns": 1000},
			{"operation": ioClose, "fd": 9, "orig_fd": -1}}, []string{"/a", "", ""},
			[]string{"operation", "fd", "bytes", "duration_ns", "metric_ns", "file"},
			[][]string{{"2", "3", "0", "1499", "1000", "10"}, {"0", "3", "10", "8000", "8000", "10"}, {"3", "9", "0", "0", "0", "-1"}}},
		{schema.Heap, []event{
			{"operation": opMalloc, "size": 8, "address": 16}, {"operation": opMalloc, "size": 5, "address": 32}, {"operation": opFree, "address": 16}}, nil,
			[]string{"size", "leaked", "freed"}, [][]string{{"8", "0", "0"}, {"5", "5", "0"}, {"0", "0", "8"}}},
		{schema.HWC, []event{
			{"counter": 4, "value": 5001, "data_address": -1, "latency": 7},            // cycles at 2 GHz are halves of ns
			{"counter": 6, "value": 1 << 62, "data_address": 0x70, "latency": 7},       // the product would overflow
			{"counter": 5, "value": -1, "data_address": -1},                            // an invalid sample
			{"counter": 9, "value": 3, "data_address": 0, "physical_address": 2}}, nil, // of a counter that is not known
			[]string{"counter", "value", "data_address", "latency", "physical_address"},
			[][]string{{"cycles", "2500", none, none, none}, {"cycles", "2305843009213693952", "112", "7", "0"}, {"insts", "0", none, none, none}, {"", "3", "0", "0", "2"}}},
		{schema.Perf, []event{
			{"event": 5, "period": 9, "data_address": -1, "weight": 3, "data_source": 4, "physical_address": -1},
			{"event": 4, "period": 8, "data_address": 0, "data_source": -1, "physical_address": 6}}, nil,
			[]string{"event", "value", "data_address", "weight", "data_source", "physical_address"},
			[][]string{{"insts", "9", none, "3", "4", none}, {"cycles", "8", "0", "0", none, "6"}}},
		{schema.Race, []event{{"race": 1, "type": 2, "address": 3, "accesses": 4}}, nil,
			[]string{"race", "type", "address", "accesses"}, [][]string{{"1", "2", "3", "4"}}},
	} {
		t.Run(c.kind.String(), func(t *testing.T) {
			alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer alloc.AssertSize(t, 0)
			var leaks *Leaks
			if c.kind == schema.Heap {
				heap, _ := ReadHeap(&singleBatch{eventBatch(alloc, c.kind, c.events, c.texts...)}, spill.FromContext(t.Context()), false)
				leaks = heap.Leaks
			}
			d := NewDeriver(rec, p, c.kind, leaks, NewFiles())
			b := d.Batch(eventBatch(alloc, c.kind, c.events, c.texts...), 100)
			defer b.Release()
			if diff := cmp.Diff(c.want, b.text(c.columns...)); diff != "" {
				t.Error(diff)
			}
			if b.First != 100 || b.Kind != c.kind || b.Process != 1 || b.Len() != len(c.events) {
				t.Errorf("batch of %d samples %+v", b.Len(), b)
			}
		})
	}
}

// singleBatch is a reader of one batch.
type singleBatch struct{ batch arrow.RecordBatch }

func (o *singleBatch) Next() (batch arrow.RecordBatch, err error) {
	batch, o.batch = o.batch, nil
	return batch, nil
}
func (*singleBatch) Close() {}
