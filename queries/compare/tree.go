package compare

import (
	"context"

	"stackmill/queries"
)

// Tree is the merged call tree of two groups of runs, with matched functions.
type Tree struct {
	Result        // without rows
	Nodes  []Node // callers first; <Total> is the first. None if nothing has a value
}

// Node is a path of functions. Values are means over the runs of a side; a run without the path
// counts as 0.
type Node struct {
	Caller                             int32 // index, -1 for the root
	Function, LoadObject, Module, Kind string
	Base, Test                         float64 // inclusive
	BaseExclusive, TestExclusive       float64
}

// Trees merges the call trees of two groups of experiments of a store. It matches functions and
// normalizes values as for rows, but judges nothing.
func Trees(ctx context.Context, db *queries.DB, r Request) (*Tree, error) {
	r.By, r.Inclusive = "path", false
	c := &comparison{ctx: ctx, db: db, Result: Result{Request: r}}
	for _, step := range []func() error{c.choose, c.chooseMetric, c.measure, c.environment} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	functions, err := c.functionsByID()
	if err != nil {
		return nil, err
	}
	if err := c.normalize(c.items[0].values); err != nil {
		return nil, err
	}
	nodes := []Node{{Caller: -1, Function: "<Total>", LoadObject: "<Total>", Kind: "artificial"}}
	err = c.walkPaths(functions, func(path int, s step, n int, value float64) {
		if path == len(nodes) {
			nodes = append(nodes, nodeOf(s))
		}
		if value == 0 {
			return
		}
		if value /= c.runs[n].unit; c.side(int64(n)) == 0 {
			nodes[path].BaseExclusive += value
		} else {
			nodes[path].TestExclusive += value
		}
	})
	if err != nil {
		return nil, err
	}
	return &Tree{Result: c.Result, Nodes: summed(nodes, float64(len(c.Result.Base.Runs)), float64(len(c.Result.Test.Runs)))}, nil
}

// nodeOf returns the node of a step.
func nodeOf(s step) Node {
	n := Node{Caller: int32(s.above), Function: "<Unknown>", Kind: "unknown"}
	if s.function != nil {
		names := s.function.names
		n.Function, n.LoadObject, n.Module, n.Kind = names[0], names[1], lastPart(names[2]), names[3]
	}
	return n
}

// summed turns exclusive sums into means over the runs, and adds inclusive values. It drops paths
// without a value, which another mode or metric has.
func summed(nodes []Node, base, test float64) []Node {
	for i := len(nodes) - 1; i >= 0; i-- {
		n := &nodes[i]
		n.BaseExclusive, n.TestExclusive = n.BaseExclusive/base, n.TestExclusive/test
		n.Base, n.Test = n.Base+n.BaseExclusive, n.Test+n.TestExclusive
		if n.Caller >= 0 {
			nodes[n.Caller].Base += n.Base
			nodes[n.Caller].Test += n.Test
		}
	}
	numbers := make([]int32, len(nodes))
	var kept []Node
	for i, n := range nodes {
		if n.Base == 0 && n.Test == 0 {
			continue
		}
		if n.Caller >= 0 {
			n.Caller = numbers[n.Caller]
		}
		numbers[i] = int32(len(kept))
		kept = append(kept, n)
	}
	return kept
}
