package attribute

import "stackmill/schema"

// Sums adds up the metrics of samples per recorded stack, and per process,
// thread, CPU and second.
type Sums struct {
	Metrics []schema.Metric
	// PerStack[n*len(Metrics)+m] is metric m of recorded stack n.
	PerStack []Sum
	Usage    []Usage
	usage    map[usageKey]int
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
	return &Sums{Metrics: metrics, usage: map[usageKey]int{}}
}

// Add implements Sink.
func (s *Sums) Add(b *Batch) error {
	slots := s.slots(b)
	for _, c := range b.Counts {
		for i, v := range c.Values {
			if v != 0 {
				s.stack(b.Stacks[i], c.Metric).add(v)
				s.Usage[slots[i]].PerMetric[c.Metric].add(v)
			}
		}
	}
	return nil
}

// add adds a sample of value v.
func (s *Sum) add(v int64) {
	s.Value += v
	s.Samples++
}

func (s *Sums) stack(n RecordedNo, m int) *Sum {
	i := int(n)*len(s.Metrics) + m
	for i >= len(s.PerStack) {
		s.PerStack = append(s.PerStack, make([]Sum, max(len(s.Metrics), len(s.PerStack)))...)
	}
	return &s.PerStack[i]
}

// Of returns the sums of a recorded stack by metric; nil or zeros if it has none.
func (s *Sums) Of(n RecordedNo) []Sum {
	i := int(n) * len(s.Metrics)
	if i+len(s.Metrics) > len(s.PerStack) {
		return nil
	}
	return s.PerStack[i : i+len(s.Metrics)]
}

// slots finds the usage of each sample, which neighbours mostly share.
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
