package attribute

import (
	"slices"

	"stackmill/schema"
	"stackmill/stages/stacktree"
)

// endSums holds the sums of metrics by the node at which stacks end, for nodes in ascending
// order where some metric has samples. They are fewer than stacks, which processes share.
type endSums struct {
	nodes  []stacktree.NodeNo
	sums   SumTable // by index in nodes
	signed bool     // some sums are negative
}

// newEndSums adds up the sums of stacks, whose nodes are in order.
func newEndSums(stacks *Stacks, sums *Sums) endSums {
	numbers := make([]int32, stacks.Nodes.Len()) // by node: 1 if stacks end there, then the index in nodes
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

// addTo adds the sums of the i-th node, for some metrics, to a row of a grid.
func (e *endSums) addTo(g grid, row, i int, metrics []int) {
	for column, m := range metrics {
		g.addSum(g.row(row), column, e.sums.get(int32(i), m))
	}
}
