package schema

import (
	"cmp"
	"slices"
	"strings"
)

// Metric declares how a metric is computed: which rows of a sample table count, and the value of
// each. The attribute stage and the SQL view `sample_metrics` are derived from it
// (gprofng-experiment 8.1).
type Metric struct {
	Name, Title, Unit string
	Kind              Kind
	Value             string // a column of the sample table; empty: each sample counts 1
	Where             []All  // a sample counts when one of them holds; empty: always
	// Also, if not nil, says which samples of another kind count, too.
	Also *Metric
	// Source is the counter or event whose samples count: a value of the kind's column
	// Traits.Source. Empty for metrics with fixed names.
	Source string
	// Data says that the samples are memory accesses, so that they have data objects (S27).
	Data bool
	// Preferred says that reports show the metric by default.
	Preferred bool
	// Signed says that samples may have negative values, as in the difference of two profiles.
	Signed bool
}

// CounterMetrics returns the metric of a hardware counter.
func CounterMetrics(counter, title, unit string) []Metric {
	return []Metric{{Name: counter, Title: title, Unit: unit, Kind: HWC, Value: "value", Source: counter}}
}

// PerfMetrics returns the two metrics of an event of perf.
func PerfMetrics(event, title, unit string) []Metric {
	return []Metric{
		{Name: event, Title: title, Unit: unit, Kind: Perf, Value: "value", Source: event},
		{Name: event + ".samples", Title: title + " Samples", Unit: "count", Kind: Perf, Source: event},
	}
}

// ProfileMetrics returns the metric of a profile's sample type.
func ProfileMetrics(name, title, unit string) []Metric {
	return []Metric{{Name: name, Title: title, Unit: unit, Kind: Pprof, Value: "value", Source: name, Signed: true}}
}

// CompareMetrics orders metrics as reports show them: declared ones in declaration order, then
// the others by name.
func CompareMetrics(a, b string) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
}

func rank(metric string) int {
	if at := slices.IndexFunc(Declared, func(m Metric) bool { return m.Name == metric }); at >= 0 {
		return at
	}
	return len(Declared)
}

// All holds when each of its conditions holds.
type All []Cond

// Cond holds when the column has one of the values, or none of them if Not.
type Cond struct {
	Column string // a column of the kind's sample table, or thread_id
	Not    bool
	Values []int64
}

func is(column string, values ...int64) Cond  { return Cond{column, false, values} }
func not(column string, values ...int64) Cond { return Cond{column, true, values} }
func one(conds ...Cond) []All                 { return []All{conds} }

var (
	ompBusy = []int64{0, 2, 6, 7}
	ompIdle = []int64{3, 4, 5, 8, 9, 10, 11, 12}

	allocation = []Cond{not("operation", 1, 4), not("address", 0)}
)

func clock(name, title string, where ...Cond) Metric {
	return Metric{Name: name, Title: title, Unit: "ns", Kind: Clock, Value: "duration_ns", Where: one(where...)}
}

func ioPair(name, title string, ops ...int64) []Metric {
	return []Metric{
		{Name: name + "cnt", Title: title + " Count", Unit: "count", Kind: IO, Where: one(is("operation", ops...))},
		{Name: name + "time", Title: title + " Time", Unit: "ns", Kind: IO, Value: "metric_ns", Where: one(is("operation", ops...))},
	}
}

// Declared lists the metrics with fixed names, in the order in which reports show them. The metrics
// of counters, events and sample types are named in the recording instead.
var Declared = func() []Metric {
	ms := []Metric{
		clock("totalcpu", "Total CPU Time", is("state", 0, 1, 2, 10)),
		clock("total", "Total Thread Time", not("state", 10, 11)),
		clock("user", "User CPU Time", is("state", 0)),
		clock("system", "System CPU Time", is("state", 1)),
		clock("trap", "Trap CPU Time", is("state", 2)),
		clock("textpfault", "Text Page Fault Time", is("state", 3)),
		clock("datapfault", "Data Page Fault Time", is("state", 4)),
		clock("kernelpfault", "Kernel Page Fault Time", is("state", 5)),
		clock("lock", "User Lock Time", is("state", 6)),
		clock("sleep", "Sleep Time", is("state", 7)),
		clock("wait", "Wait CPU Time", is("state", 8)),
		clock("stop", "Stopped Time", is("state", 9)),
		clock("kcpu", "Kernel CPU Time", is("state", 11)),
		clock("masterthread", "Master Thread Time", is("thread_id", 1)),
		clock("ompwork", "OpenMP Work Time", is("state", 0), is("omp_state", ompBusy...)),
		{Name: "ompwait", Title: "OpenMP Wait Time", Unit: "ns", Kind: Clock, Value: "duration_ns", Where: []All{
			{is("omp_state", ompIdle...)},
			{not("state", 0), is("omp_state", ompBusy...)},
		}},
		clock("ompovhd", "OpenMP Overhead Time", is("omp_state", 1)),
		{Name: "sync", Title: "Sync Wait Time", Unit: "ns", Kind: Sync, Value: "metric_ns"},
		{Name: "syncn", Title: "Sync Wait Count", Unit: "count", Kind: Sync},
		{Name: "heapallocbytes", Title: "Bytes Allocated", Unit: "bytes", Kind: Heap, Value: "size", Where: one(allocation...)},
		{Name: "heapalloccnt", Title: "Allocations", Unit: "count", Kind: Heap, Where: one(allocation...)},
		{Name: "heapleakbytes", Title: "Bytes Leaked", Unit: "bytes", Kind: Heap, Value: "leaked", Where: one(append(allocation, not("leaked", 0))...)},
		{Name: "heapleakcnt", Title: "Leaks", Unit: "count", Kind: Heap, Where: one(append(allocation, not("leaked", 0))...)},
		{Name: "ioreadbytes", Title: "Read Bytes", Unit: "bytes", Kind: IO, Value: "bytes", Where: one(is("operation", 0))},
		{Name: "iowritebytes", Title: "Write Bytes", Unit: "bytes", Kind: IO, Value: "bytes", Where: one(is("operation", 1))},
	}
	ms = append(ms, ioPair("ioread", "Read", 0)...)
	ms = append(ms, ioPair("iowrite", "Write", 1)...)
	ms = append(ms, ioPair("ioother", "Other I/O", 2, 3, 4)...)
	ms = append(ms, ioPair("ioerror", "I/O Error", 5, 6, 7, 8, 9)...)
	return append(ms,
		Metric{Name: "raccess", Title: "Race Accesses", Unit: "count", Kind: Race, Value: "accesses"},
		Metric{Name: "deadlocks", Title: "Deadlocks", Unit: "count", Kind: Deadlock},
		Metric{
			Name: "wall", Title: "Wall-Clock Time", Unit: "ns", Kind: Wait, Value: "duration_ns",
			Also: &Metric{Name: "wall", Unit: "ns", Kind: Perf, Value: "wall_ns"},
		},
		wait("offcpu", "Off-CPU Time", not("state", waitOn)),
		wait("offcpu.preempted", "Preempted Time", is("state", waitPreempted)),
		wait("offcpu.runqueue", "Run Queue Time", is("state", waitRunQueue)),
		wait("offcpu.blocked", "Blocked Time", is("state", waitBlocked, waitSum)),
		wait("offcpu.disk", "Disk Wait Time", is("state", waitDisk)),
		Metric{Name: "offcpu.samples", Title: "Off-CPU Waits", Unit: "count", Kind: Wait, Where: one(not("state", waitOn, waitRunQueue))},
		Metric{Name: "latency", Title: "Latency", Unit: "ns", Kind: Perf, Value: "latency_ns"},
	)
}()

// The values of wait_samples.state.
const (
	waitOn = iota + 1
	waitPreempted
	waitRunQueue
	waitBlocked
	waitDisk
	waitSum
)

func wait(name, title string, where ...Cond) Metric {
	return Metric{Name: name, Title: title, Unit: "ns", Kind: Wait, Value: "duration_ns", Where: one(where...)}
}

// Of returns how the metric is computed from samples of kind k; nil if they do not count.
func (m *Metric) Of(k Kind) *Metric {
	for ; m != nil; m = m.Also {
		if m.Kind == k {
			return m
		}
	}
	return nil
}
