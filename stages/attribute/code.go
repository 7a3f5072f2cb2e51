package attribute

import (
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// codeValues are the values of source lines and instructions, of one metric in one
// view.
type codeValues struct {
	Lines  tally[lineNo]
	Source tally[sourceNo]
	PCs    tally[symbolize.LocationNo] // none with inlined functions
}

// code counts a metric's values of stacks where their instructions are. all is room
// for a value by node of the stacks.
func (s *Shape) code(v *view, sums *Sums, metric int, all []int64) *codeValues {
	c := &codeValues{newTally[lineNo](len(s.LineKeys)), newTally[sourceNo](len(s.SourceKeys)), tally[symbolize.LocationNo]{}}
	if !v.inlined {
		c.PCs = newTally[symbolize.LocationNo](len(s.program.Locations))
	}
	t := &s.stacks.Nodes
	clear(all)
	for n := range s.stacks.Recorded {
		if value := sums.value(RecordedNo(n), metric); value > 0 {
			leaf := s.stacks.Recorded[n].Leaf[v.leaf]
			all[leaf] += value
			c.end(v, t.Label[leaf], value)
		}
	}
	total(t.Parent, all)
	for n := int32(1); int(n) < len(all); n++ {
		last := n + t.Below[n]
		if all[n] == 0 {
			n = last
			continue
		}
		frame := t.Label[n]
		for _, at := range v.of(frame) {
			c.Lines.pass(at.line, n, last, all[n])
			c.Source.pass(at.source, n, last, all[n])
		}
		if location := v.shows[frame]; location >= 0 && !v.inlined {
			c.PCs.pass(location, n, last, all[n])
		}
	}
	return c
}

// end counts the value of a stack that ends at a frame. One without frames has no
// instruction.
func (c *codeValues) end(v *view, frame unwind.FrameNo, value int64) {
	places := v.of(frame)
	if len(places) == 0 {
		return
	}
	innermost := places[len(places)-1]
	c.Lines.Exclusive[innermost.line] += value
	c.Source.Exclusive[innermost.source] += value
	if !v.inlined {
		c.PCs.Exclusive[v.shows[frame]] += value
	}
}
