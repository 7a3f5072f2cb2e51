package attribute

import (
	"cmp"
	"iter"
	"slices"

	"stackmill/schema"
	"stackmill/stages/stacktree"
)

// Sums holds the metrics of samples, summed by recorded stack.
type Sums struct {
	Metrics []schema.Metric
	stacks  SumTable // the sums of each recorded stack
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

// At returns a recorded stack's sum of a metric, to change it. The pointer is valid until the next
// call.
func (s *Sums) At(n RecordedStackNo, m int) *Sum { return s.stacks.At(int32(n), m) }

func (s *Sums) value(n RecordedStackNo, m int) int64 { return s.stacks.get(int32(n), m).Value }

// Each iterates over the metrics that have samples in a recorded stack, in ascending order.
func (s *Sums) Each(n RecordedStackNo) iter.Seq2[int, Sum] { return s.stacks.Each(int32(n)) }

// SumTable holds the sums of numbered things, such as stacks or nodes, for each metric. It is a
// dense array for few metrics, and sparse for many: then most things have only some of them.
type SumTable struct {
	width int     // number of metrics
	dense [][]Sum // each piece holds the sums of pieceThings things, one after the other

	cells []metricSum
	first []int32           // by thing: the index of its latest cell plus 1; 0 if it has none
	cell  map[cellKey]int32 // indices in cells
}

// metricSum is one thing's sum of one metric, in a linked list of the thing's sums.
type metricSum struct {
	Sum
	metric, next int32 // next: the index plus 1 of the thing's cell added before this one; 0 if there is none
}

type cellKey struct{ thing, metric int32 }

// Dense sums are allocated in pieces of this many things: a growing table copies nothing.
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

// At returns a thing's sum of a metric, to change it. The pointer is valid until the next call.
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

// get returns a thing's sum of a metric; it is zero without samples.
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

// addFrom adds the sums of the thing other in the table from to the sums of thing.
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

// Each iterates over the metrics of which a thing has samples, in ascending order.
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

// endSums holds, for each node of the stack tree where stacks with samples end, the sum of each
// metric over these stacks. There are fewer such nodes than recorded stacks: processes share them.
type endSums struct {
	nodes  []stacktree.NodeNo
	sums   SumTable // the sums of nodes[i] are at index i
	signed bool     // some sums are negative
}

// newEndSums adds up the sums of recorded stacks that end at the same node.
func newEndSums(stacks *Stacks, sums *Sums) endSums {
	numbers := make([]int32, stacks.Nodes.Len()) // by node: first 1 if stacks end there, later the index in nodes
	count := 0
	for i := range stacks.Recorded {
		if number := &numbers[stacks.Recorded[i].Node]; *number == 0 && sums.stacks.has(int32(i)) {
			*number = 1
			count++
		}
	}
	e := endSums{nodes: make([]stacktree.NodeNo, 0, count), sums: NewSumTable(len(sums.Metrics))}
	for n, is := range numbers {
		if is > 0 {
			numbers[n] = int32(len(e.nodes))
			e.nodes = append(e.nodes, stacktree.NodeNo(n))
		}
	}
	for i := range stacks.Recorded {
		e.sums.addFrom(numbers[stacks.Recorded[i].Node], &sums.stacks, int32(i))
	}
	if slices.ContainsFunc(sums.Metrics, func(m schema.Metric) bool { return m.Signed }) {
		for i := range e.nodes {
			for _, s := range e.sums.Each(int32(i)) {
				e.signed = e.signed || s.Value < 0
			}
		}
	}
	return e
}

// layout returns the layout of rows with n metrics or views.
func (e *endSums) layout(n int) rowLayout { return rowLayout{n, e.signed} }

// addTo adds the sums of the node e.nodes[i] to a row of a grid, which has a column for each of
// metrics.
func (e *endSums) addTo(g grid, row, i int, metrics []int) {
	for column, m := range metrics {
		g.addSum(g.row(row), column, e.sums.get(int32(i), m))
	}
}
