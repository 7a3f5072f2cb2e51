package samples

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/dataspace"
	"stackmill/stages/decode"
)

// The data space gets the hardware counter samples that are memory accesses, with these properties.
func TestAccesses(t *testing.T) {
	p := &decode.Process{Number: 1, Counters: []decode.Counter{
		{Tag: 0, Name: "insts"}, {Tag: 1, Name: "loads", Trigger: decode.TriggerExact}, {Tag: 2, Name: "misses", Trigger: decode.TriggerSkid},
	}}
	rec := &decode.Recording{Processes: []*decode.Process{p}}
	const leaf = 0x401234
	rows := []struct {
		tag              int32
		value, addr, pc  int64
		counted          bool
		want             dataspace.Event
		wantInMetricLoad int64
	}{
		{0, 100, -1, 0, false, dataspace.Event{}, 0},
		{1, 7, 0x7000, 0, true, dataspace.Event{PC: leaf, Trigger: decode.TriggerExact, Address: 0x7000, HasAddress: true}, 7},
		{2, 5, 0xff, 0x401000, true, dataspace.Event{PC: leaf, Trigger: decode.TriggerSkid, Address: 0xff, HasAddress: true, Candidate: 0x401000}, 0},
		{2, 5, 0x23, 0, true, dataspace.Event{PC: leaf, Trigger: decode.TriggerSkid, Code: 3}, 0}, // the collector's code is the lower half
		{2, 5, 0, 0, true, dataspace.Event{PC: leaf, Trigger: decode.TriggerSkid}, 0},
		{2, 5, -1, 0, true, dataspace.Event{PC: leaf, Trigger: decode.TriggerSkid}, 0},
		{2, 5, -0x1000, 0, true, dataspace.Event{PC: leaf, Trigger: decode.TriggerSkid, Address: 1<<64 - 0x1000, HasAddress: true}, 0}, // in the kernel
		{1, 7, 0x7000, 0x401000, true, dataspace.Event{PC: 0x401000, Trigger: decode.TriggerExact, Address: 0x7000, HasAddress: true}, 7},
		{1, -1, 0x7000, 0, false, dataspace.Event{}, 0}, // an invalid sample
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema.EventSchema(schema.HWC))
	defer b.Release()
	for _, r := range rows {
		for i, v := range []int64{0, 1, 0, 0, 0, -1, int64(r.tag), r.value, r.addr, 0, r.pc, 0, 0} {
			switch f := b.Field(i).(type) {
			case *array.Int64Builder:
				f.Append(v)
			case *array.Int32Builder:
				f.Append(int32(v))
			}
		}
	}
	events := b.NewRecordBatch()
	batch := NewDeriver(rec, p, schema.HWC, nil, NewFiles()).Batch(events, 0)
	defer batch.Release()

	d := &Data{metrics: []schema.Metric{
		{Name: "insts", Kind: schema.HWC, Value: "value", Source: "insts"},
		{Name: "loads", Kind: schema.HWC, Value: "value", Source: "loads", Data: true},
		{Name: "misses", Kind: schema.HWC, Value: "value", Source: "misses", Data: true},
	}}
	NewCounter(d.metrics).Add(batch)
	counts := d.counts(batch)
	in := newAccessColumns(batch, Triggers(rec))
	for i, r := range rows {
		if got := countsAny(counts, i); got != r.counted {
			t.Errorf("sample %d: has a data object: %t", i, got)
		}
		if counts[0].Metric != 1 || counts[0].Values[i] != r.wantInMetricLoad {
			t.Errorf("sample %d: metric %d counts %d", i, counts[0].Metric, counts[0].Values[i])
		}
		if !r.counted {
			continue
		}
		if diff := cmp.Diff(r.want, in.event(i, leaf)); diff != "" {
			t.Errorf("sample %d: %s", i, diff)
		}
	}
}

// A perf sample with an exact PC has no trigger if its event is not a memory access.
func TestExactAccesses(t *testing.T) {
	p := &decode.Process{Number: 1, Counters: []decode.Counter{{Tag: 0, Name: "loads", Trigger: decode.TriggerSkid}, {Tag: 1, Name: "probe"}}}
	rec := &decode.Recording{Processes: []*decode.Process{p}}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema.EventSchema(schema.Perf))
	defer b.Release()
	want := []decode.Trigger{decode.TriggerSkid, decode.TriggerExact, decode.NoTrigger}
	for row, tag := range []int{0, 0, 1} {
		for i := range b.Fields() {
			v := map[string]int64{"event": int64(tag), "period": 1, "data_address": 0x7000, "exact_pc": int64(min(row, 1))}[b.Schema().Field(i).Name]
			switch f := b.Field(i).(type) {
			case *array.Int64Builder:
				f.Append(v)
			case *array.Int32Builder:
				f.Append(int32(v))
			}
		}
	}
	batch := NewDeriver(rec, p, schema.Perf, nil, NewFiles()).Batch(b.NewRecordBatch(), 0)
	defer batch.Release()
	in := newAccessColumns(batch, Triggers(rec))
	for i, trigger := range want {
		if got := in.event(i, 0x401234).Trigger; got != trigger {
			t.Errorf("sample %d: trigger %d, want %d", i, got, trigger)
		}
	}
}

// Which metrics have data objects; descendants agree.
func TestDataMetrics(t *testing.T) {
	perf := func(counters ...decode.Counter) *decode.Process {
		return &decode.Process{Kinds: []decode.KindInfo{{Kind: schema.Perf}}, Counters: counters}
	}
	rec := &decode.Recording{Processes: []*decode.Process{
		perf(decode.Counter{Name: "cpu-clock", TimeUnit: true}, decode.Counter{Name: "page-faults"}),
		perf(decode.Counter{Name: "page-faults", Trigger: decode.TriggerExact}),
	}}
	got := map[string]bool{}
	for _, m := range Metrics(rec) {
		got[m.Name] = m.Data
	}
	want := map[string]bool{"cpu-clock": false, "cpu-clock.samples": false, "page-faults": true, "page-faults.samples": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if NewData("e", &decode.Recording{}, []schema.Metric{{Name: "totalcpu"}}, nil, nil, nil) != nil {
		t.Error("a recording without accesses has data objects")
	}
}

func TestLeafOfStack(t *testing.T) {
	p := &DataProcess{raw: decode.StacksOf(
		decode.RawStack{Words: []uint64{0x401000, 0x402000}}, decode.RawStack{}, decode.RawStack{Words: []uint64{decode.MarkFailedUnwind}},
	)}
	for stack, want := range map[int32]uint64{0: 0x401000, 1: 0, 2: 0, -1: 0} {
		if got := p.leaf(stack); got != want {
			t.Errorf("stack %d: %#x", stack, got)
		}
	}
}
