package attribute

import (
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

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

// functionValues computes a metric's values. g, with a row for each node and a column for each
// view, is scratch.
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

// addInclusive adds the inclusive values of functions, modules and load objects to v, from those of
// call-tree nodes in g. It returns the values attributed to the caller and the callee of each pair.
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

// codeValues holds the values of source lines and instructions in one view, by metric.
type codeValues struct {
	Lines  tally[lineNo]
	Source tally[sourceNo]
	PCs    tally[program.LocationNo] // empty in views with inlined functions
}

// inclusiveByNode sums metrics over the stacks through each node. Every mode that shows the node
// has the same sums.
func (s *StackViews) inclusiveByNode(metrics []int) grid {
	g := newGrid(s.stacks.Nodes.Len(), s.ends.layout(len(metrics)))
	for i, n := range s.ends.nodes {
		s.ends.addTo(g, int(n), i, metrics)
	}
	sumUpward(s.stacks.Nodes.Parent, g)
	return g
}

// exclusiveByFrame sums metrics over the stacks whose leaf in a view is the frame.
func (s *StackViews) exclusiveByFrame(v *view, metrics []int) grid {
	g, t := newGrid(len(v.shows), s.ends.layout(len(metrics))), &s.stacks.Nodes
	for i, n := range s.ends.nodes {
		for n != stacktree.Root && v.shows[t.Label[n]] < 0 {
			n = t.Parent[n]
		}
		s.ends.addTo(g, int(t.Label[n]), i, metrics)
	}
	return g
}

// countCode computes the values of lines and instructions in a view, from the inclusive values of
// nodes and the exclusive values of frames.
func (s *StackViews) countCode(v *view, inclusive, exclusive grid) *codeValues {
	of := inclusive.rowLayout
	c := &codeValues{newTally[lineNo](len(s.LineKeys), of), newTally[sourceNo](len(s.SourceKeys), of), tally[program.LocationNo]{}}
	if !v.inlined {
		c.PCs = newTally[program.LocationNo](s.program.Locations.Len(), of)
	}
	for frame := range v.shows {
		if own := exclusive.row(frame); !isZero(own) {
			c.addEnding(v, stacktree.FrameNo(frame), own)
		}
	}
	t := &s.stacks.Nodes
	for n := int32(1); int(n) < t.Len(); n++ {
		values, last := inclusive.row(int(n)), n+t.Below[n]
		if isZero(values) {
			n = last
			continue
		}
		for _, at := range v.positionsOf(t.Label[n]) {
			c.Lines.addPassing(at.line, n, last, values)
			c.Source.addPassing(at.source, n, last, values)
			if !v.inlined {
				c.PCs.addPassing(at.location, n, last, values)
			}
		}
	}
	return c
}

// addEnding adds the values of stacks whose leaf is a frame. It does nothing for a frame that is
// not shown, such as the root's.
func (c *codeValues) addEnding(v *view, frame stacktree.FrameNo, values []int64) {
	places := v.positionsOf(frame)
	if len(places) == 0 {
		return
	}
	innermost := places[len(places)-1]
	c.Lines.addEnding(innermost.line, values)
	c.Source.addEnding(innermost.source, values)
	if !v.inlined {
		c.PCs.addEnding(innermost.location, values)
	}
}
