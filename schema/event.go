package schema

import "github.com/apache/arrow-go/v18/arrow"

// Kind is a kind of samples.
type Kind uint8

// The kinds: those of gprofng in the order in which it reads them, and perf's.
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
	Kinds // their number
)

// KindNames are the kinds' names, by kind.
var KindNames = [Kinds]string{"clock", "sync", "io", "hwc", "heap", "omp", "race", "deadlock", "perf"}

func (k Kind) String() string { return KindNames[k] }

// EventCommon are the first columns of every event batch that a decoder
// delivers; the kind's own columns (EventPayload) follow.
//
// time_ns counts from the founder's start. raw_stack is the number of the
// event's stack in the process's list of raw stacks, -1 for none.
var EventCommon = []arrow.Field{
	{Name: "time_ns", Type: arrow.PrimitiveTypes.Int64},
	{Name: "thread_id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "cpu", Type: arrow.PrimitiveTypes.Int32},
	{Name: "raw_stack", Type: arrow.PrimitiveTypes.Int32},
}

// The positions of the common columns.
const (
	EventTime = iota
	EventThread
	EventCPU
	EventStack
	EventPayloadStart
)

func i32(n string) arrow.Field { return arrow.Field{Name: n, Type: arrow.PrimitiveTypes.Int32} }
func i64(n string) arrow.Field { return arrow.Field{Name: n, Type: arrow.PrimitiveTypes.Int64} }
func str(n string) arrow.Field { return arrow.Field{Name: n, Type: arrow.BinaryTypes.String} }

// EventPayload are the kind's own columns of an event batch: what the
// recording holds, before anything is derived from it. None is nullable; what
// a recording lacks is 0, an empty string, or -1 where 0 has a meaning
// (omp_state, orig_fd, file_system, and of data_address, data_source and
// physical_address what there is no memory data for).
var EventPayload = [Kinds][]arrow.Field{
	Clock:    {i32("state"), i64("ticks"), i32("omp_state")},
	Sync:     {i64("requested_ns"), i64("object")},
	IO:       {i32("operation"), i32("fd"), i64("bytes"), i64("requested_ns"), i32("orig_fd"), i32("file_system"), str("name")},
	HWC:      {i32("counter"), i64("value"), i64("data_address"), i64("physical_address"), i64("trigger_pc"), i64("latency"), i64("data_source")},
	Heap:     {i32("operation"), i64("size"), i64("address"), i64("old_address")},
	OMP:      {i32("event"), i64("region"), i64("parent_region"), i64("task"), i64("parent_task"), i64("region_pc")},
	Race:     {i64("race"), i32("type"), i64("address"), i64("accesses")},
	Deadlock: {i64("deadlock"), i32("lock_type"), i32("type"), i64("address")},
	Perf:     {i32("event"), i64("period"), i64("data_address"), i64("weight"), i64("data_source"), i64("physical_address")},
}

var eventSchemas = func() (s [Kinds]*arrow.Schema) {
	for k := range s {
		s[k] = arrow.NewSchema(append(append([]arrow.Field{}, EventCommon...), EventPayload[k]...), nil)
	}
	return s
}()

// EventSchema returns the Arrow schema of a kind's event batches. requested_ns
// counts from the founder's start like time_ns; 0 means that it was not
// recorded. A hardware counter sample's value is raw, -1 when it is invalid.
func EventSchema(k Kind) *arrow.Schema { return eventSchemas[k] }

// SampleTable returns the table that holds the kind's samples.
func SampleTable(k Kind) *Table {
	return [...]*Table{ClockSamples, SyncSamples, IOSamples, HWCSamples, HeapSamples, OMPSamples, RaceSamples, DeadlockSamples, PerfSamples}[k]
}
