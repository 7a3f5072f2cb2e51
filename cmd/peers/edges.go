package main

import (
	"fmt"
	"slices"

	"stackmill/cmd/acceptance/golden"
)

// checkEdges compares the callers and callees of gprofng's function i with the store's. It leaves
// out functions that only one side has.
func (p *peer) checkEdges(i int, v *verdict) {
	f, block := p.functions[i].ours, p.blocks[i]
	star := slices.IndexFunc(block.Rows, func(r golden.Row) bool { return r.Star })
	for n, r := range block.Rows {
		other := p.only(r.Name)
		if n == star || other == nil {
			continue
		}
		for k, c := range block.Columns {
			got := golden.Print(p.content.units[c.Metric], p.content.edges[edge{c.Metric, f.id, other.id, n < star}])
			if got == r.Values[k] {
				continue
			}
			relation := "calls"
			if n < star {
				relation = "is called by"
			}
			v.explain(p.rerouted(f, other, c.Metric), fmt.Sprintf("%s %s: %s %s, gprofng has %s", relation, other.name, c.Metric, got, r.Values[k]))
		}
	}
}

// only returns the store's function with a name, or nil if gprofng has several functions with that
// name.
func (p *peer) only(name string) (found *function) {
	for _, f := range p.functions {
		if f.Name != name {
			continue
		}
		if found != nil || f.ours == nil {
			return nil
		}
		found = f.ours
	}
	return found
}

// rerouted returns the rules that explain different values for calls between two functions. In each
// stack in which such a call differs, there must be a rule.
func (p *peer) rerouted(f, other *function, metric string) string {
	if p.swallowed(f) || p.swallowed(other) {
		return textSize
	}
	var why []string
	for _, s := range p.content.stacks {
		if isLeak(metric) && s.leaks[metric] != s.values[metric] && holds(s, f) && holds(s, other) {
			why = append(why, "realloc")
		}
		if s.values[metric] == 0 {
			continue
		}
		before := calls(len(s.raw), func(i int) *function { return s.raw[i].function }, f, other, p.content.total)
		after := calls(len(s.machine), func(i int) *function { return s.machine[i].function }, f, other, p.content.total)
		if before != after {
			why = append(why, anyRule(s))
		}
	}
	return all(why)
}

// holds reports whether a function is on a stack in machine mode.
func holds(s *stack, f *function) bool {
	return f.name == "<Total>" || slices.ContainsFunc(s.machine, func(m frame) bool { return m.function == f })
}

// calls reports whether two functions call each other on a stack of n frames. <Total> calls the
// outermost function.
func calls(n int, at func(i int) *function, f, other *function, total int64) bool {
	for i := range n {
		next := i+1 < n
		if next && (at(i) == f && at(i+1) == other || at(i) == other && at(i+1) == f) ||
			!next && (at(i) == f && other.id == total || at(i) == other && f.id == total) {
			return true
		}
	}
	return false
}

// anyRule returns the rules that changed a stack.
func anyRule(s *stack) string {
	frames, dropped := follow(s)
	var why []string
	for _, f := range frames {
		if f.raw < 0 {
			why = append(why, f.reason)
		}
	}
	for _, reason := range dropped {
		why = append(why, reason)
	}
	return all(why)
}
