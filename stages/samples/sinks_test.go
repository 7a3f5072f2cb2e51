package samples

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
)

// perfBatch returns samples of two events with counts and the given stacks. The faults are memory
// accesses.
func perfBatch(alloc memory.Allocator, first int64, events []event, stacks ...attribute.RecordedStackNo) (*Batch, *decode.Recording, []schema.Metric) {
	rec := &decode.Recording{Processes: []*decode.Process{{Number: 3, Kinds: []decode.KindInfo{{Kind: schema.Perf}},
		Counters: []decode.Counter{{Tag: 0, Name: "cycles", Title: "cycles"}, {Tag: 1, Name: "faults", Title: "faults", Trigger: decode.TriggerExact}}}}}
	metrics := Metrics(rec)
	b := NewDeriver(rec, rec.Processes[0], schema.Perf, nil, NewFiles()).Batch(eventBatch(alloc, schema.Perf, events), first)
	b.Stacks = stacks
	NewCounter(metrics).Add(b)
	return b, rec, metrics
}

// sumsOf returns the sums of a recorded stack by metric.
func sumsOf(s *UsageSums, n attribute.RecordedStackNo) []attribute.Sum {
	row := make([]attribute.Sum, len(s.Metrics))
	for m, sum := range s.Each(n) {
		row[m] = sum
	}
	return row
}

// Sums by stack, and by thread, CPU and second, have the same totals. Times before the founder's
// start are in a second of their own.
func TestSums(t *testing.T) {
	const second = 1_000_000_000
	b, _, metrics := perfBatch(memory.DefaultAllocator, 0, []event{
		{"event": 0, "period": 10, "thread_id": 1, "cpu": 0, "time_ns": -1},
		{"event": 0, "period": 20, "thread_id": 1, "cpu": 0, "time_ns": 0},
		{"event": 1, "period": 1, "thread_id": 1, "cpu": 0, "time_ns": second - 1},
		{"event": 0, "period": 40, "thread_id": 1, "cpu": 2, "time_ns": second - 1},
		{"event": 0, "period": 80, "thread_id": 2, "cpu": 0, "time_ns": second},
		{"event": 0, "period": 160, "thread_id": 1, "cpu": 0, "time_ns": 5},
	}, 0, 2, 2, 0, 2, 0)
	defer b.Release()
	s := NewUsageSums(metrics)
	if err := s.Add(b); err != nil {
		t.Fatal(err)
	}
	var got []string
	for stack := range attribute.RecordedStackNo(3) {
		got = append(got, fmt.Sprint(sumsOf(s, stack)))
	}
	want := []string{"[{210 3} {3 3} {0 0} {0 0}]", "[{0 0} {0 0} {0 0} {0 0}]", "[{100 2} {2 2} {1 1} {1 1}]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("by stack: %s", diff)
	}
	got = nil
	for u := range s.Usage() {
		if u.Metric%2 == 0 {
			got = append(got, fmt.Sprint(u.Process, u.Thread, u.CPU, u.Second, u.Metric, u.Value))
		}
	}
	want = []string{"3 1 0 -1 0 10", "3 1 0 0 0 180", "3 1 0 0 2 1", "3 1 2 0 0 40", "3 2 0 1 0 80"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("usage: %s", diff)
	}
}

// Every sample that counts for a metric with data objects has exactly one data object: no value or
// sample is lost, and the row names the sample.
func TestDataSums(t *testing.T) {
	b, rec, metrics := perfBatch(memory.DefaultAllocator, 100, []event{
		{"event": 0, "period": 10, "data_address": 0x7000, "raw_stack": 0},
		{"event": 1, "period": 2, "data_address": 0x7000, "raw_stack": 0},
		{"event": 1, "period": 4, "data_address": -1, "raw_stack": -1},
		{"event": 1, "period": 0, "data_address": 0x7000, "raw_stack": 0},
	}, 0, 0, 0, 0)
	defer b.Release()
	rows := tableRows{}
	resolver := symbolize.New(rec, rec, nil)
	data := NewData("e", rec, metrics, resolver, nil, rows.emit)
	p := rec.Processes[0]
	sink := data.Process(p, decode.StacksOf(decode.RawStack{Words: []uint64{0x401000}}), resolver.Process(p, "map.xml"), nil)
	if err := sink.Add(b); err != nil {
		t.Fatal(err)
	}
	total := make([]attribute.Sum, len(metrics))
	for _, s := range data.Sums {
		for m, sum := range s.PerMetric {
			total[m].Value += sum.Value
			total[m].Samples += sum.Samples
		}
	}
	for m, want := range map[string]attribute.Sum{"cycles": {}, "cycles.samples": {}, "faults": {Value: 6, Samples: 2}, "faults.samples": {Value: 3, Samples: 3}} {
		n := slices.IndexFunc(metrics, func(metric schema.Metric) bool { return metric.Name == m })
		if total[n] != want {
			t.Errorf("%s: %v, want %v", m, total[n], want)
		}
	}
	var samples []string
	for _, r := range rows["data_samples"] {
		samples = append(samples, strings.Join(strings.Fields(r)[:2], " "))
	}
	if diff := cmp.Diff([]string{"e 101", "e 102", "e 103"}, samples); diff != "" {
		t.Error(diff)
	}
}

// A sample has a row in `samples` and a row with the same number in its kind's table; the sink
// keeps nothing of the batch.
func TestSampleRows(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t, 0)
	b, _, _ := perfBatch(alloc, 7, []event{
		{"event": 1, "period": 2, "thread_id": 11, "cpu": 1, "time_ns": 5, "name_no": 1, "cgroup": 2, "data_address": -1, "data_source": -1, "physical_address": -1, "parallelism": -1, "wall_ns": 9, "latency_ns": -1},
		{"event": 0, "period": 3, "thread_id": 12, "cpu": -1, "time_ns": 6, "data_address": -1, "data_source": -1, "physical_address": -1, "parallelism": -1, "wall_ns": 9, "latency_ns": -1},
	}, 1, 0)
	b.Stacks = []attribute.RecordedStackNo{71, 70}
	rows := tableRows{}
	sink := NewSampleRows("e", []string{"/a", "/b"}, rows.emit)
	if err := sink.Add(b); err != nil {
		t.Fatal(err)
	}
	b.Process, b.First = 4, 9
	if err := sink.Add(b); err != nil {
		t.Fatal(err)
	}
	b.Release()
	want := tableRows{
		"samples":      {"e 7 perf 3 11 1 5 71 1 /b", "e 8 perf 3 12 -1 6 70 0 (null)", "e 9 perf 4 11 1 5 71 1 /b", "e 10 perf 4 12 -1 6 70 0 (null)"},
		"perf_samples": {"e 7 faults 2 (null) 0 (null) (null) 0 (null) 9 (null)", "e 8 cycles 3 (null) 0 (null) (null) 0 (null) 9 (null)", "e 9 faults 2 (null) 0 (null) (null) 0 (null) 9 (null)", "e 10 cycles 3 (null) 0 (null) (null) 0 (null) 9 (null)"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}
