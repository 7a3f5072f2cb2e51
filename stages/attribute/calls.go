package attribute

import (
	"slices"

	"stackmill/stages/symbolize"
)

// The relations of a neighbour.
const (
	caller = iota
	self
	callee
)

// relations are their names.
var relations = []string{"caller", "self", "callee"}

// calls are the values attributed to the neighbours of functions, by pair. A
// function's neighbour is itself where it is the leaf, with its exclusive value.
type calls struct {
	Callers []int64 // attributed to the caller of the callee's
	Callees []int64 // attributed to the callee of the caller's
	Seen    []bool  // whether a stack with a value has the pair
}

// calls attributes the values of the tree's nodes to the neighbours of each function's
// leaf-most frame; neighbours of its other frames get none (gprofng-experiment 8.3).
// So what passes a node without passing its function again goes to its parent as
// caller, and to the child that it passes as callee.
func (t *CallTree) calls(all []int64) calls {
	c := calls{make([]int64, len(t.Pairs)), make([]int64, len(t.Pairs)), make([]bool, len(t.Pairs))}
	path := newPath(len(t.program.Functions))
	for n := nodeNo(1); int(n) < t.Len(); n++ {
		value, pair := all[n], t.pair[n]
		if value == 0 {
			n = t.Last(n)
			continue
		}
		c.Callers[pair] += value
		c.Callees[pair] += value
		c.Seen[pair] = true
		if above := path.enter(n, t.Last(n), t.Label[n]); above >= 0 {
			c.Callers[t.pair[path.steps[above].node]] -= value
			c.Callees[t.pair[path.steps[above+1].node]] -= value
		}
	}
	return c
}

// path is the nodes between the root and the one entered last.
type path struct {
	steps []step
	open  []int32 // by function: the index of its last step, -1 for none
}

type step struct {
	node, last nodeNo // and the last node below
	function   symbolize.FunctionNo
	above      int32 // the index of the function's step before
}

func newPath(functions int) *path {
	return &path{open: slices.Repeat([]int32{symbolize.None}, functions)}
}

// enter goes on to the next node in pre-order; last is the last one below it. It
// returns the index of its function's step before, -1 for none.
func (p *path) enter(node, last nodeNo, function symbolize.FunctionNo) (above int32) {
	i := len(p.steps)
	for ; i > 0 && p.steps[i-1].last < node; i-- {
		left := &p.steps[i-1]
		p.open[left.function] = left.above
	}
	above = p.open[function]
	p.steps = append(p.steps[:i], step{node, last, function, above})
	p.open[function] = int32(i)
	return above
}
