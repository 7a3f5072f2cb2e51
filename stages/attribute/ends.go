package attribute

import (
	"slices"

	"stackmill/schema"
	"stackmill/stages/stacktree"
)

// ends are the nodes at which stacks that count for a metric end, ascending, with the sums of
// these stacks. There are fewer of them than stacks: several processes have the same one.
type ends struct {
	nodes  []stacktree.NodeNo
	sums   SumTable // by index in nodes
	signed bool     // some sums are negative
}

// endsOf finds where stacks end, which are in order.
func endsOf(stacks *Stacks, sums *Sums) ends {
	numbers := make([]int32, stacks.Nodes.Len()) // by node: 1 if stacks end there, then the index in nodes
	found := 0
	for i := range stacks.Recorded {
		if number := &numbers[stacks.Recorded[i].Node]; *number == 0 && sums.stacks.has(int32(i)) {
			*number = 1
			found++
		}
	}
	e := ends{nodes: make([]stacktree.NodeNo, 0, found), sums: NewSumTable(len(sums.Metrics))}
	for n, is := range numbers {
		if is > 0 {
			numbers[n] = int32(len(e.nodes))
			e.nodes = append(e.nodes, stacktree.NodeNo(n))
		}
	}
	for i := range stacks.Recorded {
		e.sums.addOf(numbers[stacks.Recorded[i].Node], &sums.stacks, int32(i))
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

// layout returns the layout of grids for so many metrics or views.
func (e *ends) layout(n int) layout { return layout{n, e.signed} }

// add adds the values of metrics of an end to a row of a grid.
func (e *ends) add(g grid, row, i int, metrics []int) {
	for column, m := range metrics {
		g.put(g.row(row), column, e.sums.of(int32(i), m))
	}
}
