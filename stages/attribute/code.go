package attribute

import (
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// codeValues holds the values of source lines and instructions in one view, by metric.
type codeValues struct {
	Lines  tally[lineNo]
	Source tally[sourceNo]
	PCs    tally[program.LocationNo] // empty in views with inlined functions
}

// inclusiveByNode sums metrics over the stacks through each node. The sums are valid in every
// mode that shows the node.
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

// countCode computes the values of lines and instructions in a view from the inclusive values
// by node and the exclusive ones by frame.
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

// addEnding adds the values of stacks that end at a frame. The root's frame has no instruction.
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
