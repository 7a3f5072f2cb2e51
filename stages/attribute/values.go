package attribute

import (
	"stackmill/stages/program"
)

// Values are the values of one metric, by view, but those of code.
type Values struct {
	Total     []int64
	Functions tally[program.FunctionNo]
	Modules   tally[program.ModuleNo]
	Objects   tally[program.ObjectNo]
	Calls     calls
}

// ending sets, by node of the tree, the values of a metric of the stacks that end there,
// by view.
func (t *CallTree) ending(metric int, g grid) {
	clear(g.values)
	for i := range t.ends.nodes {
		if s := t.ends.sums.of(int32(i), metric); s.Samples > 0 {
			for view, end := range t.end(i) {
				g.put(g.row(int(end)), view, s)
			}
		}
	}
}

// values counts a metric's values. g is room for those of the nodes, by view.
func (t *CallTree) values(metric int, g grid) *Values {
	p := t.program
	v := &Values{
		Functions: newTally[program.FunctionNo](len(p.Functions), g.layout),
		Modules:   newTally[program.ModuleNo](len(p.Modules), g.layout),
		Objects:   newTally[program.ObjectNo](len(p.Objects), g.layout),
	}
	t.ending(metric, g)
	for n := 1; n < t.Len(); n++ {
		if own := g.row(n); !empty(own) {
			f := &p.Functions[t.Label[n]]
			v.Functions.end(t.Label[n], own)
			v.Modules.end(f.Module, own)
			v.Objects.end(f.Object, own)
		}
	}
	total(t.Parent, g)
	v.Total = append(v.Total, g.row(0)[:len(t.Views)]...)
	v.Calls = t.passing(v, g)
	return v
}

// passing counts what passes each node, given its values by view.
func (t *CallTree) passing(v *Values, g grid) calls {
	c, path := newCalls(len(t.Pairs), g.layout), newPath(len(t.program.Functions))
	for n := nodeNo(1); int(n) < t.Len(); n++ {
		values, last := g.row(int(n)), t.Last(n)
		if empty(values) {
			n = last
			continue
		}
		function := t.Label[n]
		f := &t.program.Functions[function]
		v.Modules.pass(f.Module, int32(n), int32(last), values)
		v.Objects.pass(f.Object, int32(n), int32(last), values)
		add(c.passed.row(int(t.pair[n])), values)
		if above := path.enter(n, last, function); above < 0 {
			add(v.Functions.inclusive(int(function)), values)
		} else {
			add(c.caller.row(int(t.pair[path.steps[above].node])), values)
			add(c.callee.row(int(t.pair[path.steps[above+1].node])), values)
		}
	}
	return c
}
