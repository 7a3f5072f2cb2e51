package attribute

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// Deriver turns a kind's event batches of one process into the rows of its
// sample table: it adds what an event's own record does not hold. Batches must
// come in the order of time.
type Deriver struct {
	kind        schema.Kind
	tickNS      int64
	clockMHz    int64
	leaks       *Leaks
	descriptors *Descriptors
	counters    map[int32]counter // by tag
	names       *schema.Labels    // of counters
	rows        int               // heap events seen
}

// NewDeriver returns a deriver; leaks is needed for heap events, files for I/O.
func NewDeriver(rec *decode.Recording, p *decode.Process, k schema.Kind, leaks *Leaks, files *Files) *Deriver {
	d := &Deriver{kind: k, clockMHz: int64(rec.ClockMHz), leaks: leaks, descriptors: files.Process(p.Number), counters: map[int32]counter{}}
	names := []string{""} // of counters that are not known
	numbers := map[string]int{"": 0}
	for _, info := range p.Kinds {
		if info.Kind == schema.Clock {
			d.tickNS = info.TickNS
		}
	}
	for _, c := range p.Counters {
		n, ok := numbers[c.Name]
		if !ok {
			n = len(names)
			names, numbers[c.Name] = append(names, c.Name), n
		}
		d.counters[int32(c.Tag)] = counter{c, int32(n)}
	}
	if k == schema.HWC || k == schema.Perf {
		d.names = schema.NewLabels(names...)
	}
	return d
}

// Payload returns the columns of the kind's sample table that follow `sample`.
// The caller releases them.
func (d *Deriver) Payload(events arrow.RecordBatch) []arrow.Array {
	cols := payload{events}
	switch d.kind {
	case schema.Clock:
		return d.clock(cols)
	case schema.Sync:
		return d.sync(cols)
	case schema.IO:
		return d.io(cols)
	case schema.HWC:
		return d.hwc(cols)
	case schema.Heap:
		return d.heap(cols)
	case schema.Perf:
		return d.perf(cols)
	}
	// The tables of the other kinds hold what was recorded.
	var same []arrow.Array
	for i := schema.EventPayloadStart; i < int(events.NumCols()); i++ {
		c := events.Column(i)
		c.Retain()
		same = append(same, c)
	}
	return same
}

// payload gives access to a kind's own columns.
type payload struct{ arrow.RecordBatch }

func (p payload) int32s(i int) []int32 {
	return p.Column(schema.EventPayloadStart + i).(*array.Int32).Int32Values()
}

func (p payload) int64s(i int) []int64 {
	return p.Column(schema.EventPayloadStart + i).(*array.Int64).Int64Values()
}

func (p payload) same(i int) arrow.Array {
	c := p.Column(schema.EventPayloadStart + i)
	c.Retain()
	return c
}

func (p payload) times() []int64 { return p.Column(schema.EventTime).(*array.Int64).Int64Values() }

func (d *Deriver) clock(p payload) []arrow.Array {
	duration := make([]int64, p.NumRows())
	for i, n := range p.int64s(1) {
		duration[i] = n * d.tickNS
	}
	return []arrow.Array{p.same(0), schema.Int64s(duration), p.same(2)}
}

// durations returns the time from request to end, and the same in whole
// microseconds: the Analyzer truncates each event's time before it sums
// (gprofng-experiment 8.1).
func (p payload) durations(requested []int64) (exact, metric arrow.Array) {
	ns, us := make([]int64, len(requested)), make([]int64, len(requested))
	times := p.times()
	for i, r := range requested {
		if r != 0 {
			ns[i] = times[i] - r
			us[i] = ns[i] / 1000 * 1000
		}
	}
	return schema.Int64s(ns), schema.Int64s(us)
}

func (d *Deriver) sync(p payload) []arrow.Array {
	exact, metric := p.durations(p.int64s(0))
	return []arrow.Array{exact, metric, p.same(1)}
}

func (d *Deriver) io(p payload) []arrow.Array {
	exact, metric := p.durations(p.int64s(3))
	ops, fds, orig, fs := p.int32s(0), p.int32s(1), p.int32s(4), p.int32s(5)
	names := p.Column(schema.EventPayloadStart + 6).(*array.String)
	files := make([]int32, len(ops))
	for i, op := range ops {
		files[i] = d.descriptors.File(op, fds[i], orig[i], fs[i], names.Value(i))
	}
	return []arrow.Array{p.same(0), p.same(1), p.same(2), exact, metric, schema.Int32s(files)}
}

func (d *Deriver) heap(p payload) []arrow.Array {
	n := int(p.NumRows())
	leaked, freed := make([]int64, n), make([]int64, n)
	for i := range n {
		leaked[i] = d.leaks.Leaked.get(d.rows + i)
		freed[i] = d.leaks.Freed.get(d.rows + i)
	}
	d.rows += n
	return []arrow.Array{p.same(0), p.same(1), p.same(2), p.same(3), schema.Int64s(leaked), schema.Int64s(freed)}
}

// hwc names the counter and converts cycles of counters that stand for time.
func (d *Deriver) hwc(p payload) []arrow.Array {
	values := make([]int64, p.NumRows())
	raw := p.int64s(1)
	for i, tag := range p.int32s(0) {
		c := d.counters[tag]
		values[i] = max(raw[i], 0)
		if c.TimeUnit && d.clockMHz > 0 {
			v := values[i] // in two steps, so that the product does not overflow
			values[i] = v/d.clockMHz*1000 + v%d.clockMHz*1000/d.clockMHz
		}
	}
	out := []arrow.Array{d.labels(p.int32s(0)), schema.Int64s(values)}
	data := p.int64s(2)
	for i := 2; i <= 6; i++ {
		out = append(out, memoryColumn(p.int64s(i), data))
	}
	return out
}

// counter is a hardware counter or an event of perf.
type counter struct {
	decode.Counter
	name int32 // its number in Deriver.names
}

// labels names the counters of tags.
func (d *Deriver) labels(tags []int32) arrow.Array {
	numbers := make([]int32, len(tags))
	for i, tag := range tags {
		numbers[i] = d.counters[tag].name
	}
	return d.names.Mixed(numbers)
}

// perf names the event.
func (d *Deriver) perf(p payload) []arrow.Array {
	optional := func(i int) arrow.Array { return memoryColumn(p.int64s(i), p.int64s(i)) }
	return []arrow.Array{d.labels(p.int32s(0)), p.same(1), optional(2), p.same(3), optional(4), optional(5)}
}

// memoryColumn leaves out values of events that have no memory data.
func memoryColumn(values, dataAddress []int64) arrow.Array {
	if !slices.ContainsFunc(dataAddress, func(a int64) bool { return a != -1 }) {
		return array.MakeArrayOfNull(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64, len(values))
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i, v := range values {
		if dataAddress[i] == -1 {
			b.AppendNull()
		} else {
			b.Append(v)
		}
	}
	return b.NewArray()
}
