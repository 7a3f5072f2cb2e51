package attribute

import (
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// codeValues are the values of source lines and instructions in one view, by metric.
type codeValues struct {
	Lines  tally[lineNo]
	Source tally[sourceNo]
	PCs    tally[program.LocationNo] // none with inlined functions
}

// passing returns, by node, the values of metrics of the stacks that pass it. They are
// those of every mode that shows the node.
func (s *Shape) passing(metrics []int) grid {
	g := newGrid(s.stacks.Nodes.Len(), s.ends.layout(len(metrics)))
	for i, n := range s.ends.nodes {
		s.ends.add(g, int(n), i, metrics)
	}
	total(s.stacks.Nodes.Parent, g)
	return g
}

// ending returns, by frame, the values of metrics of the stacks that end there in a view: at the
// innermost node that it shows, which is the Leaf of all stacks that end at a node.
func (s *Shape) ending(v *view, metrics []int) grid {
	g, t := newGrid(len(v.shows), s.ends.layout(len(metrics))), &s.stacks.Nodes
	for i, n := range s.ends.nodes {
		for n != stacktree.Root && v.shows[t.Label[n]] < 0 {
			n = t.Parent[n]
		}
		s.ends.add(g, int(t.Label[n]), i, metrics)
	}
	return g
}

// code counts the values of stacks where their instructions are, given those of the
// stacks that pass each node and of those that end at each frame.
func (s *Shape) code(v *view, passing, ending grid) *codeValues {
	of := passing.layout
	c := &codeValues{newTally[lineNo](len(s.LineKeys), of), newTally[sourceNo](len(s.SourceKeys), of), tally[program.LocationNo]{}}
	if !v.inlined {
		c.PCs = newTally[program.LocationNo](s.program.Locations.Len(), of)
	}
	for frame := range v.shows {
		if own := ending.row(frame); !empty(own) {
			c.end(v, stacktree.FrameNo(frame), own)
		}
	}
	t := &s.stacks.Nodes
	for n := int32(1); int(n) < t.Len(); n++ {
		values, last := passing.row(int(n)), n+t.Below[n]
		if empty(values) {
			n = last
			continue
		}
		for _, at := range v.of(t.Label[n]) {
			c.Lines.pass(at.line, n, last, values)
			c.Source.pass(at.source, n, last, values)
			if !v.inlined {
				c.PCs.pass(at.location, n, last, values)
			}
		}
	}
	return c
}

// end counts the values of stacks that end at a frame. Those without frames have no
// instruction.
func (c *codeValues) end(v *view, frame stacktree.FrameNo, values []int64) {
	places := v.of(frame)
	if len(places) == 0 {
		return
	}
	innermost := places[len(places)-1]
	c.Lines.end(innermost.line, values)
	c.Source.end(innermost.source, values)
	if !v.inlined {
		c.PCs.end(innermost.location, values)
	}
}
