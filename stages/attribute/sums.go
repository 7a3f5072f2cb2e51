package attribute

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

// Sums adds up the metrics of samples per recorded stack, and per process,
// thread, CPU and second.
type Sums struct {
	Metrics []schema.Metric
	// PerStack[n*len(Metrics)+m] is metric m of recorded stack n.
	PerStack []Sum
	Usage    []Usage
	// LeftOut is the number of values that were not added: they are negative, or
	// make a sum that 64 bits do not hold. Decoders leave out what a recording
	// cannot have; this is what they could not know.
	LeftOut int64
	totals  []int64 // by metric
	usage   map[usageKey]int
}

// Sum is a metric's value and the number of samples that make it.
type Sum struct{ Value, Samples int64 }

// Usage is what one thread used on one CPU in one second.
type Usage struct {
	usageKey
	PerMetric []Sum
}

type usageKey struct {
	Process int
	Thread  int64
	CPU     int32
	Second  int32
}

// NewSums returns empty sums of the metrics.
func NewSums(metrics []schema.Metric) *Sums {
	return &Sums{Metrics: metrics, totals: make([]int64, len(metrics)), usage: map[usageKey]int{}}
}

// Batch is one batch of samples of a kind and process.
type Batch struct {
	Kind    schema.Kind
	Process int
	Stacks  []RecordedNo
	Threads []int64
	CPUs    []int32
	Times   []int64
	Payload []arrow.Array // columns of the sample table after `sample`
}

// Add adds a batch. A value that is left out is cleared in the batch's payload, so
// that the rows of samples say the same.
func (s *Sums) Add(b *Batch) {
	slots := s.slots(b)
	cols := &columns{batch: b, table: schema.SampleTable(b.Kind), ints: map[string][]int64{}}
	sources, numbers := sourcesOf(b)
	for m := range s.Metrics {
		metric := &s.Metrics[m]
		if metric.Kind != b.Kind {
			continue
		}
		var values []int64
		if metric.Value != "" {
			values = cols.get(metric.Value)
		}
		keep := cols.matches(metric.Where)
		source, ok := numbers[metric.Source]
		if !ok {
			source = -1
		}
		for i, n := range b.Stacks {
			if keep != nil && !keep[i] || sources != nil && sources[i] != source {
				continue
			}
			v := int64(1)
			if values != nil {
				if v = values[i]; v == 0 {
					continue
				}
				if v < 0 || s.totals[m] > math.MaxInt64-v {
					values[i] = 0
					s.LeftOut++
					continue
				}
				s.totals[m] += v
			}
			s.add(s.stack(n, m), v)
			s.add(&s.Usage[slots[i]].PerMetric[m], v)
		}
	}
}

func (s *Sums) add(to *Sum, v int64) {
	to.Value += v
	to.Samples++
}

func (s *Sums) stack(n RecordedNo, m int) *Sum {
	i := int(n)*len(s.Metrics) + m
	for i >= len(s.PerStack) {
		s.PerStack = append(s.PerStack, make([]Sum, max(len(s.Metrics), len(s.PerStack)))...)
	}
	return &s.PerStack[i]
}

// Of returns the sums of a recorded stack by metric, nil when it has none.
func (s *Sums) Of(n RecordedNo) []Sum {
	i := int(n) * len(s.Metrics)
	if i+len(s.Metrics) > len(s.PerStack) {
		return nil
	}
	return s.PerStack[i : i+len(s.Metrics)]
}

// slots finds the usage of each sample; neighbours mostly share it.
func (s *Sums) slots(b *Batch) []int {
	slots := make([]int, len(b.Stacks))
	var last usageKey
	slot := -1
	for i := range slots {
		k := usageKey{b.Process, b.Threads[i], b.CPUs[i], int32(floorDiv(b.Times[i], 1e9))}
		if slot < 0 || k != last {
			var ok bool
			if slot, ok = s.usage[k]; !ok {
				slot = len(s.Usage)
				s.usage[k] = slot
				s.Usage = append(s.Usage, Usage{k, make([]Sum, len(s.Metrics))})
			}
			last = k
		}
		slots[i] = slot
	}
	return slots
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// sourcesOf returns the number of each sample's counter or event, and that of
// each name; nil for kinds without.
func sourcesOf(b *Batch) (sources []int32, numbers map[string]int32) {
	if b.Kind != schema.HWC && b.Kind != schema.Perf {
		return nil, nil
	}
	labels := b.Payload[0].(*array.Dictionary)
	names := labels.Dictionary().(*array.String)
	numbers = map[string]int32{}
	for i := range names.Len() {
		numbers[names.Value(i)] = int32(i)
	}
	return labels.Indices().(*array.Int32).Int32Values(), numbers
}

// columns gives the integer columns that metrics refer to.
type columns struct {
	batch *Batch
	table *schema.Table
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
	switch a := c.batch.Payload[c.table.Index(name)-2].(type) {
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
	keep := make([]bool, len(c.batch.Stacks))
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
