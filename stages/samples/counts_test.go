package samples

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"stackmill/internal/spill"
	"stackmill/schema"
	"stackmill/stages/decode"
)

// counted returns the values of events, for each metric to which some event contributes.
func counted(t *testing.T, rec *decode.Recording, k schema.Kind, events []event, texts ...string) map[string][]int64 {
	t.Helper()
	var leaks *Leaks
	if k == schema.Heap {
		heap, _ := ReadHeap(&singleBatch{eventBatch(memory.DefaultAllocator, k, events)}, spill.FromContext(t.Context()), false)
		leaks = heap.Leaks
	}
	b := NewDeriver(rec, rec.Processes[0], k, leaks, NewFiles()).Batch(eventBatch(memory.DefaultAllocator, k, events, texts...), 0)
	defer b.Release()
	counter := NewCounter(Metrics(rec))
	counter.Add(b)
	for _, c := range b.Counts { // rows have what counts
		if metric := counter.Metrics[c.Metric]; metric.Value == "value" && len(metric.Where) == 0 {
			for i, v := range b.column("value").(*array.Int64).Int64Values() {
				if own := c.Samples == nil || slices.Contains(c.Samples, int32(i)); own && v != c.allValues(b.Len())[i] {
					t.Errorf("sample %d has %d in its row, and counts %d for %s", i, v, c.allValues(b.Len())[i], metric.Name)
				}
			}
		}
	}
	counts := map[string][]int64{}
	for _, c := range b.Counts {
		values := c.allValues(b.Len())
		if slices.ContainsFunc(values, func(v int64) bool { return v != 0 }) {
			counts[counter.Metrics[c.Metric].Name] = values
		}
	}
	return counts
}

// Events contribute to metrics by the manual's conditions on states, operations and addresses
// (gprofng-experiment 8.1).
func TestCounts(t *testing.T) {
	process := func(kinds ...decode.KindInfo) *decode.Recording {
		return &decode.Recording{Processes: []*decode.Process{{Number: 1, Kinds: kinds,
			Counters: []decode.Counter{{Tag: 1, Name: "cycles"}, {Tag: 2, Name: "faults"}}}}}
	}
	for _, c := range []struct {
		name   string
		rec    *decode.Recording
		kind   schema.Kind
		events []event
		texts  []string
		want   map[string][]int64
	}{
		{"states of ten", process(decode.KindInfo{Kind: schema.Clock, States: 10, TickNS: 10}), schema.Clock,
			[]event{{"state": 0, "ticks": 1, "thread_id": 1}, {"state": 1, "ticks": 2}, {"state": 7, "ticks": 3}, {"state": 10, "ticks": 4}, {"state": 11, "ticks": 5}, {"state": 2}}, nil,
			map[string][]int64{
				"totalcpu": {10, 20, 0, 40, 0, 0}, "total": {10, 20, 30, 0, 0, 0}, "user": {10, 0, 0, 0, 0, 0}, "system": {0, 20, 0, 0, 0, 0},
				"sleep": {0, 0, 30, 0, 0, 0}, "masterthread": {10, 0, 0, 0, 0, 0},
			}},
		{"one state", process(decode.KindInfo{Kind: schema.Clock, States: 1, TickNS: 10}), schema.Clock,
			[]event{{"state": 10, "ticks": 1}}, nil, map[string][]int64{"totalcpu": {10}}},
		{"OpenMP", process(decode.KindInfo{Kind: schema.Clock, States: 10, TickNS: 1}, decode.KindInfo{Kind: schema.OMP}), schema.Clock,
			[]event{{"state": 0, "ticks": 1, "omp_state": 2}, {"state": 7, "ticks": 2, "omp_state": 2}, {"state": 0, "ticks": 4, "omp_state": 3}, {"state": 0, "ticks": 8, "omp_state": 1}}, nil,
			map[string][]int64{
				"totalcpu": {1, 0, 4, 8}, "total": {1, 2, 4, 8}, "user": {1, 0, 4, 8}, "sleep": {0, 2, 0, 0},
				"ompwork": {1, 0, 0, 0}, "ompwait": {0, 2, 4, 0}, "ompovhd": {0, 0, 0, 8},
			}},
		{"more than a sum holds: what is left out of one metric counts for none", process(decode.KindInfo{Kind: schema.Clock, States: 10, TickNS: 1}), schema.Clock,
			[]event{{"state": 5, "ticks": 1 << 62}, {"state": 0, "ticks": 1 << 62}, {"state": 0, "ticks": 3}}, nil,
			map[string][]int64{"totalcpu": {0, 0, 3}, "total": {1 << 62, 0, 3}, "user": {0, 0, 3}, "kernelpfault": {1 << 62, 0, 0}}},
		{"waits", process(decode.KindInfo{Kind: schema.Sync}), schema.Sync,
			[]event{{"time_ns": 5_100, "requested_ns": 100}, {"time_ns": 500, "requested_ns": 100}}, nil,
			map[string][]int64{"sync": {5000, 0}, "syncn": {1, 1}}},
		{"files", process(decode.KindInfo{Kind: schema.IO}), schema.IO,
			[]event{{"operation": 0, "bytes": 7, "time_ns": 3001, "requested_ns": 1}, {"operation": 1, "bytes": 8}, {"operation": 6, "bytes": 9}, {"operation": 3}}, []string{"", "", "", ""},
			map[string][]int64{
				"ioreadbytes": {7, 0, 0, 0}, "iowritebytes": {0, 8, 0, 0}, "ioreadcnt": {1, 0, 0, 0}, "ioreadtime": {3000, 0, 0, 0},
				"iowritecnt": {0, 1, 0, 0}, "ioothercnt": {0, 0, 0, 1}, "ioerrorcnt": {0, 0, 1, 0},
			}},
		{"heap", process(decode.KindInfo{Kind: schema.Heap}), schema.Heap,
			[]event{{"operation": opMalloc, "size": 8, "address": 16}, {"operation": opMalloc, "size": 5, "address": 32}, {"operation": opMalloc, "size": 9}, {"operation": opFree, "address": 16}, {"operation": opRealloc, "size": 0, "address": 48}}, nil,
			map[string][]int64{
				"heapallocbytes": {8, 5, 0, 0, 0}, "heapalloccnt": {1, 1, 0, 0, 1}, "heapleakbytes": {0, 5, 0, 0, 0}, "heapleakcnt": {0, 1, 0, 0, 0},
			}},
		{"counters", process(decode.KindInfo{Kind: schema.HWC}), schema.HWC,
			[]event{{"counter": 1, "value": 100}, {"counter": 2, "value": 3}, {"counter": 2, "value": -1}, {"counter": 7, "value": 5}}, nil,
			map[string][]int64{"cycles": {100, 0, 0, 0}, "faults": {0, 3, 0, 0}}},
		{"perf", process(decode.KindInfo{Kind: schema.Perf}), schema.Perf,
			[]event{{"event": 1, "period": 100}, {"event": 2, "period": 0}}, nil,
			map[string][]int64{"cycles": {100, 0}, "cycles.samples": {1, 0}, "faults.samples": {0, 1}}},
		{"perf, one event", process(decode.KindInfo{Kind: schema.Perf}), schema.Perf,
			[]event{{"event": 2, "period": 5}, {"event": 2, "period": -3}, {"event": 2, "period": 1 << 62}, {"event": 2, "period": 1 << 62}}, nil,
			map[string][]int64{"faults": {5, 0, 1 << 62, 0}, "faults.samples": {1, 1, 1, 1}}},
		{"perf, an unknown event", process(decode.KindInfo{Kind: schema.Perf}), schema.Perf,
			[]event{{"event": 9, "period": 5}}, nil, map[string][]int64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, counted(t, c.rec, c.kind, c.events, c.texts...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Conditions contain only numbers below maxStates.
func TestConditions(t *testing.T) {
	for _, m := range schema.Declared {
		for _, cond := range slices.Concat(m.Where...) {
			if len(cond.Values) == 0 || slices.Min(cond.Values) < 0 || slices.Max(cond.Values) >= maxStates {
				t.Errorf("%s: %v", m.Name, cond)
			}
		}
	}
}
