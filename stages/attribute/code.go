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
		all[s.stacks.Recorded[n].Leaf[v.leaf]] += sums.value(RecordedNo(n), metric)
	}
	for n, own := range all {
		if own > 0 {
			c.end(v, t.Label[n], own)
		}
	}
	total(t.Parent, all)
	for n := int32(1); int(n) < len(all); n++ {
		value, last := all[n], n+t.Below[n]
		if value == 0 {
			n = last
			continue
		}
		for _, at := range v.of(t.Label[n]) {
			c.Lines.pass(at.line, n, last, value)
			c.Source.pass(at.source, n, last, value)
			if !v.inlined {
				c.PCs.pass(at.location, n, last, value)
			}
		}
	}
	return c
}

// end counts the value of stacks that end at a frame. Those without frames have no
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
		c.PCs.Exclusive[innermost.location] += value
	}
}
