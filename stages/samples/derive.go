package samples

import (
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// Deriver turns batches of events, of one kind and process, into batches of samples: it adds
// columns that the events do not have, such as durations, leaked bytes and names of counters.
// Batches must come in order of time.
type Deriver struct {
	kind        schema.Kind
	process     int
	tickNS      int64
	clockMHz    int64
	leaks       *Leaks
	descriptors *Descriptors
	counters    map[int32]namedCounter // tag of a counter -> the counter
	names       *schema.Labels         // names of the counters, nil for kinds without
	noteFault   func(error) bool       // decode.Recording.KeepHostError
}

// namedCounter is a hardware counter or an event of perf.
type namedCounter struct {
	decode.Counter
	name int32 // its number in Deriver.names
}

// NewDeriver returns a deriver for a process's events of kind k. leaks is used for heap events
// only, files for I/O only.
func NewDeriver(rec *decode.Recording, p *decode.Process, k schema.Kind, leaks *Leaks, files *Files) *Deriver {
	d := &Deriver{
		kind: k, process: p.Number, clockMHz: int64(rec.ClockMHz), leaks: leaks, noteFault: rec.KeepHostError,
		descriptors: files.Process(p.Number), counters: map[int32]namedCounter{},
	}
	for _, info := range p.Kinds {
		if info.Kind == schema.Clock {
			d.tickNS = info.TickNS
		}
	}
	if rec.FromStore {
		d.tickNS, d.clockMHz = 1, 0
	}
	if k.Traits().Source != "" {
		d.nameCounters(p.Counters)
	}
	return d
}

// nameCounters numbers the counters' names. Unknown counters have number 0.
func (d *Deriver) nameCounters(counters []decode.Counter) {
	names, numbers := []string{""}, map[string]int{"": 0}
	for _, c := range counters {
		n, ok := numbers[c.Name]
		if !ok {
			n = len(names)
			names, numbers[c.Name] = append(names, c.Name), n
		}
		d.counters[int32(c.Tag)] = namedCounter{c, int32(n)}
	}
	d.names = schema.NewLabels(names...)
}

// Batch returns the samples of a batch of events, and takes ownership of it. first is the number of
// the first sample. The payload's columns are derived or, if they are not, the events' columns of
// the same name.
func (d *Deriver) Batch(batch arrow.RecordBatch, first int64) *Batch {
	events := schema.Events{RecordBatch: batch}
	derived := d.derive(events)
	table := d.kind.Traits().Table
	var payload []arrow.Array
	for _, c := range table.Columns[table.Index(sampleColumn)+1:] {
		column, ok := derived[c.Name]
		if !ok {
			column = events.Column(c.Name)
			column.Retain()
		}
		payload = append(payload, column)
	}
	return newBatch(d.kind, d.process, first, events, payload)
}

// derivedColumns are columns of a table of samples, by name.
type derivedColumns map[string]arrow.Array

func (d *Deriver) derive(e schema.Events) derivedColumns {
	switch d.kind {
	case schema.Clock:
		return d.clock(e)
	case schema.Sync:
		return durations(e)
	case schema.IO:
		return d.io(e)
	case schema.HWC:
		return d.hwc(e)
	case schema.Heap:
		return d.heap(e)
	case schema.Perf:
		return d.perf(e)
	case schema.Wait:
		return derivedColumns{"waker_sample": nullWhere(e.Int64s("waker_sample"), e.Int64s("waker_sample"))}
	case schema.Pprof:
		return derivedColumns{"type": d.labels(e.Int32s("type"))}
	}
	return nil
}

func (d *Deriver) clock(e schema.Events) derivedColumns {
	duration := make([]int64, e.NumRows())
	for i, n := range e.Int64s("ticks") {
		duration[i] = n * d.tickNS
	}
	return derivedColumns{"duration_ns": schema.Int64s(duration)}
}

// durations returns the time from request to end, in ns and in whole microseconds: the Analyzer
// truncates each event's time to these before it sums (gprofng-experiment 8.1).
func durations(e schema.Events) derivedColumns {
	requested, times := e.Int64s("requested_ns"), e.Int64s("time_ns")
	ns, us := make([]int64, len(requested)), make([]int64, len(requested))
	for i, r := range requested {
		if r != 0 {
			ns[i] = times[i] - r
			us[i] = ns[i] / 1000 * 1000
		}
	}
	return derivedColumns{"duration_ns": schema.Int64s(ns), "metric_ns": schema.Int64s(us)}
}

func (d *Deriver) io(e schema.Events) derivedColumns {
	derived := durations(e)
	if e.Has("file") { // the events come from a store
		file := e.Column("file")
		file.Retain()
		derived["file"] = file
		return derived
	}
	fds, originals, systems, names := e.Int32s("fd"), e.Int32s("orig_fd"), e.Int32s("file_system"), e.Texts("name")
	files := make([]int32, e.NumRows())
	for i, op := range e.Int32s("operation") {
		files[i] = d.descriptors.File(op, fds[i], originals[i], systems[i], names.Value(i))
	}
	derived["file"] = schema.Int32s(files)
	return derived
}

func (d *Deriver) heap(e schema.Events) derivedColumns {
	leaked, freed, err := d.leaks.Next(int(e.NumRows()))
	if err != nil {
		d.noteFault(err)
	}
	return derivedColumns{"leaked": schema.Int64s(leaked), "freed": schema.Int64s(freed)}
}

// hwc returns the names of counters, and values: for counters that measure time, it converts cycles
// to ns.
func (d *Deriver) hwc(e schema.Events) derivedColumns {
	raw, tags := e.Int64s("value"), e.Int32s("counter")
	values := make([]int64, len(raw))
	for i, tag := range tags {
		values[i] = max(raw[i], 0)
		if d.counters[tag].TimeUnit && d.clockMHz > 0 {
			v := values[i] // in two steps, so that the product does not overflow
			values[i] = v/d.clockMHz*1000 + v%d.clockMHz*1000/d.clockMHz
		}
	}
	derived := derivedColumns{"counter": d.labels(tags), "value": schema.Int64s(values)}
	for _, name := range []string{"data_address", "physical_address", "trigger_pc", "latency", "data_source"} {
		derived[name] = nullWhere(e.Int64s(name), e.Int64s("data_address"))
	}
	return derived
}

// perf returns the names of events, their values, and columns that may be null.
func (d *Deriver) perf(e schema.Events) derivedColumns {
	value := e.Column("period")
	value.Retain()
	derived := derivedColumns{"event": d.labels(e.Int32s("event")), "value": value}
	for _, name := range []string{"data_address", "data_source", "physical_address", "parallelism", "wall_ns", "latency_ns"} {
		derived[name] = nullWhere(e.Int64s(name), e.Int64s(name))
	}
	return derived
}

// labels returns the names of the counters with these tags.
func (d *Deriver) labels(tags []int32) arrow.Array {
	numbers := make([]int32, len(tags))
	for i, tag := range tags {
		numbers[i] = d.counters[tag].name
	}
	return d.names.Mixed(numbers)
}

// nulls returns a batch of nulls, which all columns with only nulls share.
var nulls = sync.OnceValue(func() arrow.Array {
	return array.MakeArrayOfNull(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64, schema.BatchRows)
})

// nullWhere returns a column of values that is null where recorded is -1, which means that the
// event has no such value.
func nullWhere(values, recorded []int64) arrow.Array {
	if !slices.ContainsFunc(recorded, func(v int64) bool { return v != -1 }) {
		return array.NewSlice(nulls(), 0, int64(len(values)))
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i, v := range values {
		if recorded[i] == -1 {
			b.AppendNull()
		} else {
			b.Append(v)
		}
	}
	return b.NewArray()
}
