package attribute

import "stackmill/stages/program"

// MetricValues holds the values of one metric by view, except the values of instructions and lines.
type MetricValues struct {
	Total     []int64
	Functions tally[program.FunctionNo]
	Modules   tally[program.ModuleNo]
	Objects   tally[program.ObjectNo]
	Calls     pairValues
}

// exclusiveByNode sums metric over the stacks whose leaf is the node, for each view.
func (t *CallTree) exclusiveByNode(metric int, g grid) {
	clear(g.values)
	for i := range t.ends.nodes {
		if s := t.ends.sums.get(int32(i), metric); s.Samples > 0 {
			for view, end := range t.endNodesOf(i) {
				g.addSum(g.row(int(end)), view, s)
			}
		}
	}
}

// functionValues computes a metric's values. It uses the memory of g for values by node and
// view.
func (t *CallTree) functionValues(metric int, g grid) *MetricValues {
	p := t.program
	v := &MetricValues{
		Functions: newTally[program.FunctionNo](len(p.Functions), g.rowLayout),
		Modules:   newTally[program.ModuleNo](len(p.Modules), g.rowLayout),
		Objects:   newTally[program.ObjectNo](len(p.Objects), g.rowLayout),
	}
	t.exclusiveByNode(metric, g)
	for n := 1; n < t.Len(); n++ {
		if own := g.row(n); !isZero(own) {
			f := &p.Functions[t.Label[n]]
			v.Functions.addEnding(t.Label[n], own)
			v.Modules.addEnding(f.Module, own)
			v.Objects.addEnding(f.Object, own)
		}
	}
	sumUpward(t.Parent, g)
	v.Total = append(v.Total, g.row(0)[:len(t.Views)]...)
	v.Calls = t.addInclusive(v, g)
	return v
}

// addInclusive adds the inclusive values of nodes to v, and returns the values of pairs.
func (t *CallTree) addInclusive(v *MetricValues, g grid) pairValues {
	c, path := newPairValues(len(t.Pairs), g.rowLayout), newFunctionPath(len(t.program.Functions))
	for n := nodeNo(1); int(n) < t.Len(); n++ {
		values, last := g.row(int(n)), t.Last(n)
		if isZero(values) {
			n = last
			continue
		}
		function := t.Label[n]
		f := &t.program.Functions[function]
		v.Modules.addPassing(f.Module, int32(n), int32(last), values)
		v.Objects.addPassing(f.Object, int32(n), int32(last), values)
		addRow(c.passed.row(int(t.pairOf[n])), values)
		if outer := path.enter(n, last, function); outer < 0 {
			addRow(v.Functions.inclusive(int(function)), values)
		} else {
			addRow(c.caller.row(int(t.pairOf[path.steps[outer].node])), values)
			addRow(c.callee.row(int(t.pairOf[path.steps[outer+1].node])), values)
		}
	}
	return c
}
