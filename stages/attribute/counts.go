package attribute

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

// Count is what each sample of a batch counts for one metric: 0 if it does not.
type Count struct {
	Metric int
	Values []int64
}

// Counter says what samples count, for all that sums them.
type Counter struct {
	Metrics []schema.Metric
	// LeftOut is the number of values that do not count because they are negative,
	// or make a total that 64 bits do not hold. Decoders leave out what a recording
	// cannot have; this is what they could not know.
	LeftOut int64
	totals  []int64 // by metric
}

// NewCounter returns the counter of a recording's metrics.
func NewCounter(metrics []schema.Metric) *Counter {
	return &Counter{Metrics: metrics, totals: make([]int64, len(metrics))}
}

// Add fills the batch's Counts, with an entry for each metric of its kind for which
// a sample may count. A value that is left out is cleared in the payload as well, so
// that the rows of samples agree.
func (c *Counter) Add(b *Batch) {
	cols := &columns{batch: b, ints: map[string][]int64{}}
	sources, numbers := b.sources()
	for m := range c.Metrics {
		metric := &c.Metrics[m]
		if metric.Kind != b.Kind {
			continue
		}
		source, ok := numbers[metric.Source]
		if sources != nil && !ok {
			continue
		}
		keep := cols.matches(metric.Where)
		var recorded []int64
		if metric.Value != "" {
			recorded = cols.get(metric.Value)
		}
		values := make([]int64, b.Len())
		for i := range values {
			switch {
			case keep != nil && !keep[i] || sources != nil && sources[i] != source:
			case recorded == nil:
				values[i] = 1
			default:
				values[i] = c.add(m, &recorded[i])
			}
		}
		b.Counts = append(b.Counts, Count{m, values})
	}
}

// add adds a value to a metric's total and returns it; if it is left out it
// becomes 0.
func (c *Counter) add(m int, v *int64) int64 {
	if *v < 0 || c.totals[m] > math.MaxInt64-*v {
		*v = 0
		c.LeftOut++
	}
	c.totals[m] += *v
	return *v
}

// columns gives the integer columns that metrics refer to.
type columns struct {
	batch *Batch
	ints  map[string][]int64
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

// matches says for which samples one of the alternatives holds; nil: for all.
func (c *columns) matches(where []schema.All) []bool {
	if where == nil {
		return nil
	}
	keep := make([]bool, c.batch.Len())
	for _, all := range where {
		holds := make([]bool, len(keep))
		for i := range holds {
			holds[i] = true
		}
		for _, cond := range all {
			narrow(holds, c.get(cond.Column), cond)
		}
		for i, h := range holds {
			keep[i] = keep[i] || h
		}
	}
	return keep
}

// narrow clears the samples for which the condition does not hold.
func narrow(holds []bool, column []int64, cond schema.Cond) {
	for i, v := range column {
		found := false
		for _, w := range cond.Values {
			if v == w {
				found = true
				break
			}
		}
		if found == cond.Not {
			holds[i] = false
		}
	}
}
