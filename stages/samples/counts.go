package samples

import (
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

// Count is what samples of a batch count for one metric: 0 if one does not.
type Count struct {
	Metric int
	// Samples are the places in the batch of those that Values are of; nil for all. Where
	// there are many events, each has few of a batch's samples.
	Samples []int32
	Values  []int64
}

// sample is the place in the batch of the sample of a value.
func (c *Count) sample(i int) int {
	if c.Samples == nil {
		return i
	}
	return int(c.Samples[i])
}

// ofAll returns the values of all of the batch's samples.
func (c *Count) ofAll(samples int) []int64 {
	if c.Samples == nil {
		return c.Values
	}
	values := make([]int64, samples)
	for i, n := range c.Samples {
		values[n] = c.Values[i]
	}
	return values
}

// Counter says what samples count, for all that sums them.
type Counter struct {
	Metrics []schema.Metric
	// LeftOut is the number of values that do not count because they are negative
	// although their metric is not signed, or make a total that 64 bits do not hold. Decoders leave out what a recording
	// cannot have; this is what they could not know.
	LeftOut int64
	totals  []int64 // by metric: sums of absolute values
}

// NewCounter returns the counter of a recording's metrics.
func NewCounter(metrics []schema.Metric) *Counter {
	return &Counter{Metrics: metrics, totals: make([]int64, len(metrics))}
}

// Add fills the batch's Counts, with an entry for each metric of its kind for which
// a sample may count. A value that is left out is cleared in the payload as well, so
// that the rows of samples agree.
func (c *Counter) Add(b *Batch) {
	leftOut := c.LeftOut
	if b.Counts = c.counts(b, c.add); c.LeftOut != leftOut { // metrics before may have counted what is cleared now
		b.Counts = c.counts(b, func(_ int, v *int64) int64 { return *v })
	}
}

// counts returns the batch's counts; add returns what a value counts for a metric.
func (c *Counter) counts(b *Batch, add func(m int, v *int64) int64) (counts []Count) {
	cols := &columns{batch: b, ints: map[string][]int64{}}
	leftOut := c.LeftOut
	sources := sourcesOf(b)
	for m := range c.Metrics {
		metric := &c.Metrics[m]
		if metric.Kind != b.Kind {
			continue
		}
		count := Count{Metric: m}
		if sources != nil {
			some := false
			if count.Samples, some = sources.samples(metric.Source); !some {
				continue
			}
		}
		if leftOut != c.LeftOut { // values have changed
			cols.found, leftOut = nil, c.LeftOut
		}
		keep := cols.matches(metric.Where)
		var recorded []int64
		if metric.Value != "" {
			recorded = cols.get(metric.Value)
		}
		count.fill(b.Len(), keep, recorded, func(v *int64) int64 { return add(m, v) })
		counts = append(counts, count)
	}
	return counts
}

// fill sets the values for a batch of so many samples: what was recorded, or 1 if nothing was;
// only where keep, if there is one, has a 1. value returns what a recorded value counts.
func (c *Count) fill(samples int, keep []uint8, recorded []int64, value func(*int64) int64) {
	if c.Samples == nil && keep == nil && recorded != nil {
		for i := range recorded {
			value(&recorded[i]) // which clears what is left out
		}
		c.Values = recorded
		return
	}
	if c.Samples != nil {
		samples = len(c.Samples)
	}
	c.Values = make([]int64, samples)
	for i := range c.Values {
		switch at := c.sample(i); {
		case keep != nil && recorded == nil:
			c.Values[i] = int64(keep[at])
		case recorded == nil:
			c.Values[i] = 1
		case keep == nil || keep[at] != 0:
			c.Values[i] = value(&recorded[at])
		}
	}
}

// sourced says of which counters or events the samples of a batch are.
type sourced struct {
	numbers map[string]int32 // by name
	only    int32            // that of all samples, if there are no lists
	lists   [][]int32        // by number: the places of its samples
}

// sourcesOf returns the sources of a batch's samples, nil if its kind has none.
func sourcesOf(b *Batch) *sourced {
	of, numbers := b.sources()
	switch {
	case of == nil:
		return nil
	case len(of) > 0 && !slices.ContainsFunc(of, func(n int32) bool { return n != of[0] }):
		return &sourced{numbers: numbers, only: of[0]}
	}
	return &sourced{numbers: numbers, lists: bySource(of)}
}

// samples returns the places of a source's samples, nil for all; false if there are none.
func (s *sourced) samples(source string) (places []int32, some bool) {
	n, known := s.numbers[source]
	switch {
	case !known:
		return nil, false
	case s.lists == nil:
		return nil, n == s.only
	case int(n) >= len(s.lists):
		return nil, false
	}
	return s.lists[n], len(s.lists[n]) > 0
}

// bySource lists the samples of each source.
func bySource(of []int32) [][]int32 {
	if len(of) == 0 {
		return [][]int32{}
	}
	samples := make([]int, slices.Max(of)+1)
	for _, n := range of {
		samples[n]++
	}
	lists, all := make([][]int32, len(samples)), make([]int32, len(of))
	for n := range lists {
		lists[n], all = all[:0:samples[n]], all[samples[n]:]
	}
	for i, n := range of {
		lists[n] = append(lists[n], int32(i))
	}
	return lists
}

// add adds a value to a metric's total and returns it; if it is left out it
// becomes 0.
func (c *Counter) add(m int, v *int64) int64 {
	size := *v
	if size < 0 && c.Metrics[m].Signed && size != math.MinInt64 {
		size = -size
	}
	if size < 0 || c.totals[m] > math.MaxInt64-size {
		*v, size = 0, 0
		c.LeftOut++
	}
	c.totals[m] += size
	return *v
}

// columns gives the integer columns that metrics refer to.
type columns struct {
	batch *Batch
	ints  map[string][]int64
	found []found
}

// found says for which samples conditions hold.
type found struct {
	all   schema.All
	holds []uint8
}

// get returns a column as 64-bit integers.
func (c *columns) get(name string) []int64 {
	if name == "thread_id" {
		return c.batch.Threads
	}
	if v, ok := c.ints[name]; ok {
		return v
	}
	var v []int64
	switch a := c.batch.column(name).(type) {
	case *array.Int64:
		v = a.Int64Values()
	case *array.Int32:
		v = make([]int64, a.Len())
		for i, x := range a.Int32Values() {
			v[i] = int64(x)
		}
	}
	c.ints[name] = v
	return v
}

// matches has a 1 for each sample for which one of the alternatives holds, else 0; nil:
// they hold for all.
func (c *columns) matches(where []schema.All) (keep []uint8) {
	for n, all := range where {
		holds := c.all(all)
		if holds == nil {
			return nil
		}
		if n == 0 {
			keep = holds
			continue
		}
		keep = slices.Clone(keep)
		for i, h := range holds {
			keep[i] |= h
		}
	}
	return keep
}

// all is matches for conditions that must all hold. Metrics share them, or the first.
func (c *columns) all(all schema.All) []uint8 {
	if len(all) == 0 {
		return nil
	}
	for _, f := range c.found {
		if slices.EqualFunc(f.all, all, same) {
			return f.holds
		}
	}
	first, last := all[:len(all)-1], all[len(all)-1]
	holds := narrowed(c.all(first), c.get(last.Column), last)
	c.found = append(c.found, found{all, holds})
	return holds
}

func same(a, b schema.Cond) bool {
	return a.Column == b.Column && a.Not == b.Not && slices.Equal(a.Values, b.Values)
}

// numbered is how many values, from 0, conditions tell apart: they are states, operations
// and the like.
const numbered = 64

// narrowed clears the samples for which a condition does not hold as well; nil has all.
func narrowed(holds []uint8, column []int64, cond schema.Cond) []uint8 {
	var in [numbered + 1]uint8 // the last is for all other values
	for i := range in {
		if slices.Contains(cond.Values, int64(i)) != cond.Not {
			in[i] = 1
		}
	}
	list := make([]uint8, len(column))
	for i, v := range column {
		list[i] = in[min(uint64(v), numbered)]
	}
	for i, h := range holds {
		list[i] &= h
	}
	return list
}
