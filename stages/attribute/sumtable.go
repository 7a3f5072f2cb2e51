package attribute

import (
	"cmp"
	"iter"
	"slices"
)

// SumTable holds the sums of numbered things, such as stacks or nodes, for each metric. It is
// dense for few metrics and sparse for many, since each thing then has values of few.
type SumTable struct {
	width int     // number of metrics
	dense [][]Sum // each piece has the sums of pieceThings things, one after the other

	cells []metricSum
	first []int32           // by thing: the number of its latest cell, from 1; 0 if it has none
	cell  map[cellKey]int32 // indices in cells
}

// metricSum is the sum of a metric of a thing, in a linked list.
type metricSum struct {
	Sum
	metric, next int32 // next: the number of the thing's cell before, from 1
}

type cellKey struct{ thing, metric int32 }

// Dense sums are in pieces, so that nothing is copied when things are added.
const (
	pieceBits   = 7
	pieceThings = 1 << pieceBits
)

// fewMetrics is the largest number of metrics for a dense table.
const fewMetrics = 16

// NewSumTable returns a table of this many metrics.
func NewSumTable(metrics int) SumTable {
	return SumTable{width: metrics, cell: map[cellKey]int32{}}
}

// At returns a sum, to be changed until the next call.
func (t *SumTable) At(thing int32, metric int) *Sum {
	if t.width <= fewMetrics {
		for int(thing)>>pieceBits >= len(t.dense) {
			t.dense = append(t.dense, make([]Sum, t.width<<pieceBits))
		}
		return &t.row(thing)[metric]
	}
	k := cellKey{thing, int32(metric)}
	n, ok := t.cell[k]
	if !ok {
		n = int32(len(t.cells))
		t.cell[k] = n
		for int(thing) >= len(t.first) {
			t.first = append(t.first, 0)
		}
		t.cells = append(t.cells, metricSum{metric: int32(metric), next: t.first[thing]})
		t.first[thing] = n + 1
	}
	return &t.cells[n].Sum
}

// get returns the sum of a metric of a thing, zero without samples.
func (t *SumTable) get(thing int32, metric int) Sum {
	if t.width <= fewMetrics {
		if row := t.row(thing); row != nil {
			return row[metric]
		}
		return Sum{}
	}
	if int(thing) < len(t.first) {
		for n := t.first[thing]; n > 0; n = t.cells[n-1].next {
			if c := &t.cells[n-1]; c.metric == int32(metric) {
				return c.Sum
			}
		}
	}
	return Sum{}
}

// has reports whether a thing has samples.
func (t *SumTable) has(thing int32) bool {
	for range t.Each(thing) {
		return true
	}
	return false
}

// addFrom adds the sums of a thing in another table to a thing's.
func (t *SumTable) addFrom(thing int32, from *SumTable, other int32) {
	for m, s := range from.Each(other) {
		to := t.At(thing, m)
		to.Value += s.Value
		to.Samples += s.Samples
	}
}

// row returns the sums of a thing by metric; nil or zeros without samples.
func (t *SumTable) row(thing int32) []Sum {
	if t.width <= fewMetrics {
		if n := int(thing) >> pieceBits; n < len(t.dense) {
			return t.dense[n][int(thing)&(pieceThings-1)*t.width:][:t.width]
		}
		return nil
	}
	var row []Sum
	for m, s := range t.Each(thing) {
		if row == nil {
			row = make([]Sum, t.width)
		}
		row[m] = s
	}
	return row
}

// Each iterates over the metrics that have samples of a thing, in ascending order.
func (t *SumTable) Each(thing int32) iter.Seq2[int, Sum] {
	return func(yield func(int, Sum) bool) {
		if t.width <= fewMetrics {
			for m, s := range t.row(thing) {
				if s.Samples > 0 && !yield(m, s) {
					return
				}
			}
			return
		}
		for _, c := range t.ofThing(thing) {
			if !yield(int(c.metric), c.Sum) {
				return
			}
		}
	}
}

// ofThing returns the cells of a thing, sorted by metric.
func (t *SumTable) ofThing(thing int32) (list []metricSum) {
	if int(thing) >= len(t.first) {
		return nil
	}
	for n := t.first[thing]; n > 0; n = t.cells[n-1].next {
		list = append(list, t.cells[n-1])
	}
	slices.SortFunc(list, func(a, b metricSum) int { return cmp.Compare(a.metric, b.metric) })
	return list
}
