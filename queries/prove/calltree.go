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
	return x.treeValues(parent, functions)
}

// treeValues proves that nodes have their own value and those of the nodes below them, and
// that the exclusive values of a function's nodes sum to its own.
func (x *experiment) treeValues(parent, functions []int32) error {
	t := schema.TreeValues
	runs, err := x.runs(t)
	if err != nil {
		return err
	}
	own, err := x.functionSums()
	if err != nil {
		return err
	}
	n := len(parent)
	used := make([]bool, n)
	there, rest := make([]bool, n), make([]int64, n)
	nodes, attributed, exclusive := x.col(t, "call_node"), x.col(t, "attributed"), x.col(t, "exclusive")
	for form := range forms {
		for m := range int32(len(x.metrics)) {
			clear(there)
			clear(rest)
			total, of, want := int64(0), of(runs, m, form), slices.Clone(own[form][m].exclusive)
			for _, r := range of {
				for i := r.start; i < r.end; i++ {
					k := nodes[i]
					if k < 0 || k >= int64(n) || there[k] {
						return errors.New("tree_values: a node is unknown or has two rows")
					}
					there[k], used[k] = true, true
					rest[k] += attributed[i] - exclusive[i]
					if k > 0 {
						rest[parent[k]] -= attributed[i]
						want[functions[k]] -= exclusive[i]
					} else {
						total = attributed[i]
					}
				}
			}
			if err := even(parent, there, rest, want); err != nil {
				return err
			}
			if form < modes && total != own[form][m].total {
				return errors.New("tree_values: the root's is not <Total>")
			}
		}
	}
	if slices.Contains(used, false) {
		return errors.New("call_nodes: one has no value")
	}
	return nil
}

func even(parent []int32, there []bool, rest, want []int64) error {
	for k := range parent {
		if rest[k] != 0 || there[k] && k > 0 && !there[parent[k]] {
			return errors.New("tree_values: a node's is not that of its parts")
		}
	}
	for _, v := range want {
		if v != 0 {
			return errors.New("tree_values: a function's exclusive value is not that of its nodes")
		}
	}
	return nil
}

// functionSum are the values of functions in one form and metric, but for <Total>.
type functionSum struct {
	exclusive, inclusive []int64
	there                []bool
	total                int64
	totals               int
}

// functionSums returns the values of functions, after proving that <Total> is what all
// stacks have.
func (x *experiment) functionSums() ([forms][]functionSum, error) {
	var all [forms][]functionSum
	t := schema.FunctionValues
	runs, err := x.runs(t)
	if err != nil {
		return all, err
	}
	rows, exclusive, inclusive := x.col(t, "function_no"), x.col(t, "exclusive"), x.col(t, "inclusive")
	n := x.len(schema.Functions)
	for form := range forms {
		for m := range int32(len(x.metrics)) {
			s := functionSum{exclusive: make([]int64, n), inclusive: make([]int64, n), there: make([]bool, n)}
			for _, r := range of(runs, m, form) {
				for i := r.start; i < r.end; i++ {
					f := x.functions[rows[i]]
					if f != x.total {
						s.exclusive[f], s.inclusive[f], s.there[f] = exclusive[i], inclusive[i], true
						continue
					}
					s.total = inclusive[i]
					if s.totals++; exclusive[i] != inclusive[i] {
						return all, errors.New("function_values: <Total> has two values")
					}
				}
			}
			if err := x.proveTotal(&s, m, form%modes); err != nil {
				return all, err
			}
			all[form] = append(all[form], s)
		}
	}
	for form := range modes {
		for m, s := range all[form] {
			if o := all[form+modes][m]; o.totals != s.totals || o.total != s.total {
				return all, errors.New("function_values: <Total> is another one with inlined functions")
			}
		}
	}
	return all, nil
}

// proveTotal proves that <Total> is there once at most and is what all stacks have, and
// that what is in unknown functions has a reason.
func (x *experiment) proveTotal(s *functionSum, metric int32, mode int) error {
	total, unexplained := int64(0), int64(0)
	kinds, reasons := x.col(schema.Functions, "kind"), x.col(schema.Locations, "reason")
	for stack, v := range x.stacks.value[metric] {
		total += v
		if leaf := x.stacks.leaf[mode][stack]; leaf > 0 {
			at := x.tree.shown[mode][x.tree.frame[leaf]]
			if kinds[x.location[at].function] == unknownKind && reasons[at] == none {
				unexplained += v
			}
		}
	}
	if s.totals > 1 || s.total != total || unexplained != 0 {
		return fmt.Errorf("function_values: <Total> is not that of the stacks, or an unknown function has no reason")
	}
	return nil
}
