package samples

import (
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

// Count holds one metric's value for each sample of a batch (0 if the sample does not
// contribute).
type Count struct {
	Metric int
	// Samples are the indices in the batch of the samples that have Values; nil for all. In
	// recordings with many events, each has few of a batch's samples.
	Samples []int32
	Values  []int64
}

// index returns the index in the batch of the sample of the i-th value.
func (c *Count) index(i int) int {
	if c.Samples == nil {
		return i
	}
	return int(c.Samples[i])
}

// allValues returns the values of all samples of a batch.
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

// Counter computes what samples count for each metric. All sums use these values.
type Counter struct {
	Metrics []schema.Metric
	// LeftOut is the number of values that count as 0 because they are negative although
	// their metric is not signed, or would overflow the metric's total. Decoders cannot
	// detect these.
	LeftOut int64
	totals  []int64 // by metric: sums of absolute values
}

// NewCounter returns the counter of a recording's metrics.
func NewCounter(metrics []schema.Metric) *Counter {
	return &Counter{Metrics: metrics, totals: make([]int64, len(metrics))}
}

// Add fills the batch's Counts, with an entry for each metric of its kind to which a sample may
// contribute. It also clears values that it leaves out in the payload, so that the rows of
// samples agree.
func (c *Counter) Add(b *Batch) {
	leftOut := c.LeftOut
	if b.Counts = c.counts(b, c.add); c.LeftOut != leftOut { // earlier metrics may have counted values that are cleared now
		b.Counts = c.counts(b, func(_ int, v *int64) int64 { return *v })
	}
}

// counts returns the batch's counts; add returns what a value counts for a metric.
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

// fill sets the values of a batch with this many samples: the recorded ones, or 1 if recorded is
// nil. If keep is not nil, samples without a 1 there have the value 0. value returns what a
// recorded value counts.
func (c *Count) fill(samples int, keep []uint8, recorded []int64, value func(*int64) int64) {
	if c.Samples == nil && keep == nil && recorded != nil {
		for i := range recorded {
			value(&recorded[i]) // clears values that are left out
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

// groupBySource returns the indices of samples by source, given the source of each.
func groupBySource(of []int32) (lists [][]int32) {
	for i, n := range of {
		for int(n) >= len(lists) {
			lists = append(lists, nil)
		}
		lists[n] = append(lists[n], int32(i))
	}
	return lists
}

// add adds a value to a metric's total and returns it. It sets a value that is left out to 0.
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

// metricColumns caches the integer columns of a batch that metrics refer to.
type metricColumns struct {
	batch   *Batch
	ints    map[string][]int64
	matched []conditionMatches
}

// conditionMatches holds, for each sample, 1 if conditions are met, else 0.
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

// matches returns, for each sample, 1 if one of the alternatives is met, else 0; nil if all
// samples meet them.
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

// matchesAll is matches for conditions that must all be met. Metrics share their results, also
// the results of a prefix of the conditions.
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

// maxStates bounds the values in conditions: they are small numbers of states and operations.
const maxStates = 64

// andCondition returns holds with 0 for the samples that do not meet a condition on a column. A
// nil holds has 1 for all.
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
