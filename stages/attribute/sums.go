package attribute

import (
	"iter"

	"stackmill/schema"
)

// Sums adds up the metrics of samples per recorded stack.
type Sums struct {
	Metrics []schema.Metric
	stacks  SumTable // by recorded stack
}

// Sum is a metric's value and the number of samples that make it.
type Sum struct{ Value, Samples int64 }

// NewSums returns empty sums of the metrics.
func NewSums(metrics []schema.Metric) *Sums {
	return &Sums{Metrics: metrics, stacks: NewSumTable(len(metrics))}
}

// Add adds a sample of value v.
func (s *Sum) Add(v int64) {
	s.Value += v
	s.Samples++
}

// At returns the sum of a metric of a recorded stack, until the next call.
func (s *Sums) At(n RecordedNo, m int) *Sum { return s.stacks.At(int32(n), m) }

// value returns the value of a metric of a recorded stack.
func (s *Sums) value(n RecordedNo, m int) int64 { return s.stacks.of(int32(n), m).Value }

// Each iterates over the metrics of which a recorded stack has samples, in ascending
// order.
func (s *Sums) Each(n RecordedNo) iter.Seq2[int, Sum] { return s.stacks.Each(int32(n)) }
