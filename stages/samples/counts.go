package samples

import (
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

// Count holds the values that the samples of a batch add to one metric.
type Count struct {
	Metric int
	// Samples holds the index in the batch of the sample of each value; nil if all samples have
	// one. In recordings with many events, each event has only few of a batch's samples.
	Samples []int32
	Values  []int64
}

// index returns the index in the batch of the sample to which Values[i] belongs.
func (c *Count) index(i int) int {
	if c.Samples == nil {
		return i
	}
	return int(c.Samples[i])
}

// allValues returns a value for each of the batch's samples, which are `samples` in number.
func (c *Count) allValues(samples int) []int64 {
	if c.Samples == nil {
		return c.Values
	}
	values := make([]int64, samples)
	for i, n := range c.Samples {
		values[n] = c.Values[i]
	}
	return values
}

// Counter computes the value that each sample adds to each metric. All sums use these values.
type Counter struct {
	Metrics []schema.Metric
	// LeftOut is the number of values that were replaced by 0: negative values of a metric that is
	// not signed, and values with which the metric's total would overflow. Decoders cannot detect
	// these.
	LeftOut int64
	totals  []int64 // by metric: sums of absolute values
}

// NewCounter returns the counter of a recording's metrics.
func NewCounter(metrics []schema.Metric) *Counter {
	return &Counter{Metrics: metrics, totals: make([]int64, len(metrics))}
}

// Add sets the batch's Counts: an entry for each metric of its kind that its samples may add to.
// Values that it leaves out of the Counts, it also sets to 0 in the payload, so that the rows of
// samples have the same values.
func (c *Counter) Add(b *Batch) {
	leftOut := c.LeftOut
	if b.Counts = c.counts(b, c.add); c.LeftOut != leftOut { // earlier metrics may have counted values that are cleared now
		b.Counts = c.counts(b, func(_ int, v *int64) int64 { return *v })
	}
}

// counts returns the batch's counts. add returns the value to use for a recorded value v of metric
// m, and may change v.
func (c *Counter) counts(b *Batch, add func(m int, v *int64) int64) (counts []Count) {
	cols := &metricColumns{batch: b, ints: map[string][]int64{}}
	leftOut := c.LeftOut
	sources, numbers := b.sources()
	bySource := groupBySource(sources)
	for m := range c.Metrics {
		metric := c.Metrics[m].Of(b.Kind)
		if metric == nil {
			continue
		}
		count := Count{Metric: m}
		if sources != nil && metric.Source != "" {
			n, known := numbers[metric.Source]
			if !known || int(n) >= len(bySource) || len(bySource[n]) == 0 {
				continue
			}
			count.Samples = bySource[n]
		}
		if leftOut != c.LeftOut { // values have changed
			cols.matched, leftOut = nil, c.LeftOut
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

// fill sets the values of a batch with this many samples: the recorded values or, if recorded is
// nil, 1 for each. If keep is not nil, only the samples with a 1 in keep get a value, others 0.
// value returns the value to use for a recorded one, and may change that.
func (c *Count) fill(samples int, keep []uint8, recorded []int64, value func(*int64) int64) {
	if c.Samples == nil && keep == nil && recorded != nil {
		for i := range recorded {
			value(&recorded[i]) // it sets values that are left out to 0
		}
		c.Values = recorded
		return
	}
	if c.Samples != nil {
		samples = len(c.Samples)
	}
	c.Values = make([]int64, samples)
	for i := range c.Values {
		switch at := c.index(i); {
		case keep != nil && recorded == nil:
			c.Values[i] = int64(keep[at])
		case recorded == nil:
			c.Values[i] = 1
		case keep == nil || keep[at] != 0:
			c.Values[i] = value(&recorded[at])
		}
	}
}

// groupBySource returns, for each source, the indices of its samples; of has the source of each
// sample.
func groupBySource(of []int32) (lists [][]int32) {
	for i, n := range of {
		for int(n) >= len(lists) {
			lists = append(lists, nil)
		}
		lists[n] = append(lists[n], int32(i))
	}
	return lists
}

// add adds a value to a metric's total and returns it. A value that must be left out becomes 0.
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

// metricColumns caches the integer columns of a batch that metrics use.
type metricColumns struct {
	batch   *Batch
	ints    map[string][]int64
	matched []conditionMatches
}

// conditionMatches holds, for each sample, 1 if it meets all conditions, else 0.
type conditionMatches struct {
	all   schema.All
	holds []uint8
}

// get returns a column as 64-bit integers.
func (c *metricColumns) get(name string) []int64 {
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

// matches returns, for each sample, 1 if it meets one of the alternatives, else 0; nil means that
// all samples do.
func (c *metricColumns) matches(where []schema.All) (keep []uint8) {
	for n, all := range where {
		holds := c.matchesAll(all)
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

// matchesAll returns, for each sample, 1 if it meets all conditions, else 0; nil means that all
// samples do. It caches the result for each prefix of the conditions: several metrics use them.
func (c *metricColumns) matchesAll(all schema.All) []uint8 {
	if len(all) == 0 {
		return nil
	}
	for _, f := range c.matched {
		if slices.EqualFunc(f.all, all, equalCond) {
			return f.holds
		}
	}
	first, last := all[:len(all)-1], all[len(all)-1]
	holds := andCondition(c.matchesAll(first), c.get(last.Column), last)
	c.matched = append(c.matched, conditionMatches{all, holds})
	return holds
}

func equalCond(a, b schema.Cond) bool {
	return a.Column == b.Column && a.Not == b.Not && slices.Equal(a.Values, b.Values)
}

// maxStates bounds the values in conditions, which are small numbers: of states and operations.
// Higher values in a column are all treated alike.
const maxStates = 64

// andCondition returns a copy of holds with 0 for each sample that does not meet a condition on a
// column. A nil holds counts as 1 for each sample.
func andCondition(holds []uint8, column []int64, cond schema.Cond) []uint8 {
	var in [maxStates + 1]uint8 // the last is for all other values
	for i := range in {
		if slices.Contains(cond.Values, int64(i)) != cond.Not {
			in[i] = 1
		}
	}
	list := make([]uint8, len(column))
	for i, v := range column {
		list[i] = in[min(uint64(v), maxStates)]
	}
	for i, h := range holds {
		list[i] &= h
	}
	return list
}
