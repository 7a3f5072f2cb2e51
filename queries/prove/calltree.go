package prove

import (
	"errors"
	"fmt"
	"slices"

	"stackmill/schema"
)

// proveCallTree proves the call tree: its nodes and their values.
func (x *experiment) proveCallTree() error {
	t := schema.CallNodes
	parent, _, err := nested(x.col(t, "call_node"), x.col(t, "up"), x.col(t, "below"))
	if err != nil {
		return err
	}
	functions, depth := make([]int32, len(parent)), x.col(t, "depth")
	path, ids := make([]int64, len(parent)), make(map[int64]bool, len(parent))
	children := map[[2]int32]bool{}
	for i, no := range x.col(t, "function_no") {
		f, err := x.function(no)
		if err != nil {
			return err
		}
		above := int64(-1)
		if i > 0 {
			above, path[i] = depth[parent[i]], path[parent[i]]
		}
		path[i] = (path[i] + pathPart(x.col(schema.Functions, "function_id")[f], depth[i])) & mask63
		if depth[i] != above+1 || ids[path[i]] || i > 0 && children[[2]int32{parent[i], f}] {
			return errors.New("call_nodes: a depth is wrong, or two nodes are one")
		}
		ids[path[i]], children[[2]int32{parent[i], f}] = true, i > 0
		functions[i] = f
	}
	return x.treeValues(newCallTree(parent, depth, functions, x.len(schema.Functions)))
}

// treeValues proves that nodes of the call tree, and neighbours of functions, have the values
// of the stacks, in all forms.
func (x *experiment) treeValues(t *callTree) error {
	tree, err := x.runs(schema.TreeValues)
	if err != nil {
		return err
	}
	calls, err := x.runs(schema.CallValues)
	if err != nil {
		return err
	}
	called, err := x.called(t)
	if err != nil {
		return err
	}
	if err := x.proveTotals(); err != nil {
		return err
	}
	used := make([]bool, len(t.parent))
	var nodes [forms][]int32
	for form := range forms {
		if form >= modes && x.len(schema.InlineFrames) == 0 {
			nodes[form] = nodes[form-modes]
		} else {
			nodes[form] = x.placed(t, form)
		}
		for m := range int32(len(x.metrics)) {
			own, all, err := x.sumsOf(t, nodes[form], form%modes, m)
			if err != nil {
				return err
			}
			if err := x.compareTree(of(tree, m, form), own, slices.Clone(all), used); err != nil {
				return err
			}
			if err := x.compareCalls(of(calls, m, form), called, t.neighbours(own, all, x.len(schema.Functions))); err != nil {
				return err
			}
		}
	}
	if slices.Contains(used, false) {
		return errors.New("call_nodes: one has no value")
	}
	return nil
}

// placed returns, by node of the tree of stacks, the node of the call tree of the functions
// that a form shows on its path; -1 where that has none.
func (x *experiment) placed(t *callTree, form int) []int32 {
	nodes := make([]int32, len(x.tree.parent))
	shown := x.tree.shown[form%modes]
	for i := 1; i < len(nodes); i++ {
		at := nodes[x.tree.parent[i]]
		if l := shown[x.tree.frame[i]]; l >= 0 {
			levels := x.location[l].levels
			if form < modes {
				levels = levels[:1]
			}
			for _, level := range levels {
				at = t.child(at, level.function)
			}
		}
		nodes[i] = at
	}
	return nodes
}

// sumsOf returns a metric's values of the stacks that end at each node of the call tree, and
// of those that pass it, given the node of each node of the tree of stacks.
func (x *experiment) sumsOf(t *callTree, nodes []int32, mode int, metric int32) (own, all []int64, err error) {
	own = make([]int64, len(t.parent))
	for stack, v := range x.stacks.value[metric] {
		if v == 0 {
			continue
		}
		n := nodes[x.stacks.leaf[mode][stack]]
		if n < 0 {
			return nil, nil, errors.New("call_nodes: one of a stack is missing")
		}
		own[n] += v
	}
	all = slices.Clone(own)
	for i := len(all) - 1; i > 0; i-- {
		all[t.parent[i]] += all[i]
	}
	return own, all, nil
}

// compareTree proves that rows have these values of nodes, each node one that has a value.
func (x *experiment) compareTree(runs []run, own, all []int64, used []bool) error {
	t := schema.TreeValues
	nodes, attributed, exclusive := x.col(t, "call_node"), x.col(t, "attributed"), x.col(t, "exclusive")
	root := false
	for _, r := range runs {
		for i := r.start; i < r.end; i++ {
			n := nodes[i]
			if n < 0 || n >= int64(len(all)) || all[n] == 0 && n > 0 && !x.signed || n == 0 && root {
				return errors.New("tree_values: a node is unknown, has no value or has two rows")
			}
			if attributed[i] != all[n] || exclusive[i] != own[n] {
				return errors.New("tree_values: a value is not that of the stacks")
			}
			root, used[n], all[n] = root || n == 0, true, 0
		}
	}
	if slices.ContainsFunc(all, func(v int64) bool { return v != 0 }) {
		return errors.New("tree_values: a value is missing")
	}
	return nil
}

// total is what rows say of <Total> in one form and metric.
type total struct {
	value int64
	rows  int
}

// proveTotals proves that <Total> is what all stacks have.
func (x *experiment) proveTotals() error {
	t := schema.FunctionValues
	runs, err := x.runs(t)
	if err != nil {
		return err
	}
	functions, exclusive, inclusive := x.col(t, "function_no"), x.col(t, "exclusive"), x.col(t, "inclusive")
	for m := range int32(len(x.metrics)) {
		var found [forms]total
		for form := range forms {
			for _, r := range of(runs, m, form) {
				for i := r.start; i < r.end; i++ {
					if x.functions[functions[i]] != x.total {
						continue
					}
					if exclusive[i] != inclusive[i] {
						return errors.New("function_values: <Total> has two values")
					}
					found[form] = total{inclusive[i], found[form].rows + 1}
				}
			}
			if err := x.proveTotal(found[form], m, form%modes); err != nil {
				return err
			}
			if form >= modes && found[form] != found[form-modes] {
				return errors.New("function_values: <Total> is another one with inlined functions")
			}
		}
	}
	return nil
}

// proveTotal proves that <Total> is there once at most and is what all stacks have, and
// that what is in unknown functions has a reason.
func (x *experiment) proveTotal(t total, metric int32, mode int) error {
	sum, unexplained := int64(0), int64(0)
	kinds, reasons := x.col(schema.Functions, "kind"), x.col(schema.Locations, "reason")
	for stack, v := range x.stacks.value[metric] {
		sum += v
		if leaf := x.stacks.leaf[mode][stack]; leaf > 0 {
			at := x.tree.shown[mode][x.tree.frame[leaf]]
			if kinds[x.location[at].function] == unknownKind && reasons[at] == none {
				unexplained += v
			}
		}
	}
	if t.rows > 1 || t.value != sum || unexplained != 0 {
		return fmt.Errorf("function_values: <Total> is not that of the stacks, or an unknown function has no reason")
	}
	return nil
}
