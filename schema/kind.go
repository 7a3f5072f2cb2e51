package schema

import "github.com/apache/arrow-go/v18/arrow"

// Kind is a kind of samples.
type Kind uint8

// The kinds: gprofng's in its reading order, then perf's, pprof's, and the waits of threads, which
// are derived from perf's records of context switches.
const (
	Clock Kind = iota
	Sync
	IO
	HWC
	Heap
	OMP
	Race
	Deadlock
	Perf
	Pprof
	Wait
	Kinds // their number
)

// Traits are the properties of a kind. Code should test a trait rather than a kind, unless it is
// about one kind only.
type Traits struct {
	Name string
	// File is the name of the kind's event file in a gprofng experiment; problems name it.
	File string
	// Columns are the kind's own columns of an event batch, with values as recorded. None is
	// nullable: a missing value is 0 or an empty string, or -1 where 0 has a meaning. That is so in
	// omp_state, orig_fd, file_system, waker_sample; data_address, data_source and physical_address
	// without memory data; parallelism, wall_ns and latency_ns of samples that do not measure time
	// on a CPU. record is where a decoder finds the fields of a sample again, -1 if it has none.
	Columns []arrow.Field
	// Table holds the kind's samples. Those of its columns that are also in Columns have the same
	// values, unless a stage derives them.
	Table *Table
	// Source is the column with the counter or event of a sample: a tag in event batches, a name
	// in Table. The metrics are named after these. Empty if the metrics have fixed names.
	Source string
	// Metrics returns the metrics of a counter or event.
	Metrics func(name, title, unit string) []Metric
	// Memory says that samples may be memory accesses, at data_address.
	Memory bool
	// Codes says that a small data_address is a code: the reason why the address is unknown
	// (gprofng-experiment 9.5).
	Codes bool
}

func i32(n string) arrow.Field { return arrow.Field{Name: n, Type: arrow.PrimitiveTypes.Int32} }
func i64(n string) arrow.Field { return arrow.Field{Name: n, Type: arrow.PrimitiveTypes.Int64} }
func str(n string) arrow.Field { return arrow.Field{Name: n, Type: arrow.BinaryTypes.String} }

var kinds = [Kinds]Traits{
	Clock: {Name: "clock", File: "profile", Table: ClockSamples,
		Columns: []arrow.Field{i32("state"), i64("ticks"), i32("omp_state")}},
	Sync: {Name: "sync", File: "synctrace", Table: SyncSamples,
		Columns: []arrow.Field{i64("requested_ns"), i64("object")}},
	IO: {Name: "io", File: "iotrace", Table: IOSamples,
		Columns: []arrow.Field{i32("operation"), i32("fd"), i64("bytes"), i64("requested_ns"), i32("orig_fd"), i32("file_system"), str("name")}},
	HWC: {Name: "hwc", File: "hwcounters", Table: HWCSamples, Source: "counter", Metrics: CounterMetrics, Memory: true, Codes: true,
		Columns: []arrow.Field{i32("counter"), i64("value"), i64("data_address"), i64("physical_address"), i64("trigger_pc"), i64("latency"), i64("data_source")}},
	Heap: {Name: "heap", File: "heaptrace", Table: HeapSamples,
		Columns: []arrow.Field{i32("operation"), i64("size"), i64("address"), i64("old_address")}},
	OMP: {Name: "omp", File: "omptrace", Table: OMPSamples,
		Columns: []arrow.Field{i32("event"), i64("region"), i64("parent_region"), i64("task"), i64("parent_task"), i64("region_pc")}},
	Race: {Name: "race", File: "dataraces", Table: RaceSamples,
		Columns: []arrow.Field{i64("race"), i32("type"), i64("address"), i64("accesses")}},
	Deadlock: {Name: "deadlock", File: "deadlocks", Table: DeadlockSamples,
		Columns: []arrow.Field{i64("deadlock"), i32("lock_type"), i32("type"), i64("address")}},
	Perf: {Name: "perf", File: ".", Table: PerfSamples, Source: "event", Metrics: PerfMetrics, Memory: true,
		Columns: []arrow.Field{i32("event"), i64("period"), i64("data_address"), i64("weight"), i64("data_source"), i64("physical_address"), i64("exact_pc"),
			i64("parallelism"), i64("wall_ns"), i64("latency_ns"), i64("record")}},
	Pprof: {Name: "pprof", File: ".", Table: PprofSamples, Source: "type", Metrics: ProfileMetrics,
		Columns: []arrow.Field{i32("type"), i64("value"), str("labels")}},
	Wait: {Name: "wait", File: ".", Table: WaitSamples,
		Columns: []arrow.Field{i32("state"), i64("duration_ns"), i64("waker_sample")}},
}

// Traits returns the properties of the kind.
func (k Kind) Traits() *Traits { return &kinds[k] }

func (k Kind) String() string { return kinds[k].Name }

// KindNames returns the kinds' names, by kind.
func KindNames() (names []string) {
	for k := range kinds {
		names = append(names, kinds[k].Name)
	}
	return names
}

// SampleTable returns the table that holds the kind's samples.
func SampleTable(k Kind) *Table { return kinds[k].Table }
