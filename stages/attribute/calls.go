package attribute

import (
	"slices"

	"stackmill/stages/program"
)

// The relations of a neighbour.
const (
	caller = iota
	self
	callee
)

// relations are their names.
var relations = []string{"caller", "self", "callee"}

// calls are the values attributed to the neighbours of functions, by pair and view: to
// the neighbours of each function's leaf-most frame; those of its other frames get none
// (gprofng-experiment 8.3). So what passes a node without passing its function again
// counts for its parent as caller, and for the child that it passes as callee. A
// function's neighbour is itself where it is the leaf, with its exclusive value.
type calls struct {
	passed grid // of all nodes of the pair
	caller grid // of those in which the callee's function is passed again
	callee grid // likewise the caller's
}

func newCalls(pairs int, of layout) calls {
	return calls{newGrid(pairs, of), newGrid(pairs, of), newGrid(pairs, of)}
}

// of returns what is attributed to the caller of a pair's callee, and to the callee of
// its caller; not ok if no stack with a value has the pair.
func (c *calls) of(pair, view int) (caller, callee int64, ok bool) {
	row := c.passed.row(pair)
	return row[view] - c.caller.row(pair)[view], row[view] - c.callee.row(pair)[view], c.passed.has(row, view)
}

// path is the nodes between the root and the one entered last.
type path struct {
	steps []step
	open  []int32 // by function: the index of its last step, -1 for none
}

type step struct {
	node, last nodeNo // and the last node below
	function   program.FunctionNo
	above      int32 // the index of the function's step before
}

func newPath(functions int) *path {
	return &path{open: slices.Repeat([]int32{program.None}, functions)}
}

// enter goes on to the next node in pre-order; last is the last one below it. It
// returns the index of its function's step before, -1 for none.
func (p *path) enter(node, last nodeNo, function program.FunctionNo) (above int32) {
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
