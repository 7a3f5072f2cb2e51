package attribute

import (
	"iter"

	"stackmill/schema"
)

// Sums holds the metrics of samples, summed by recorded stack.
type Sums struct {
	Metrics []schema.Metric
	stacks  SumTable // by recorded stack
}

// Sum is the value of a metric and the number of samples in it.
type Sum struct{ Value, Samples int64 }

// NewSums returns sums of metrics, without samples.
func NewSums(metrics []schema.Metric) *Sums {
	return &Sums{Metrics: metrics, stacks: NewSumTable(len(metrics))}
}

// Add adds a sample.
func (s *Sum) Add(v int64) {
	s.Value += v
	s.Samples++
}

// At returns the sum of a metric of a recorded stack, to be changed until the next call.
func (s *Sums) At(n RecordedStackNo, m int) *Sum { return s.stacks.At(int32(n), m) }

func (s *Sums) value(n RecordedStackNo, m int) int64 { return s.stacks.get(int32(n), m).Value }

// Each iterates over the metrics that have samples in a recorded stack, in ascending order.
func (s *Sums) Each(n RecordedStackNo) iter.Seq2[int, Sum] { return s.stacks.Each(int32(n)) }
