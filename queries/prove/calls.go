package prove

import (
	"errors"

	"stackmill/schema"
)

// relation is what a neighbour of a function is.
type relation uint8

const (
	caller relation = iota
	self
	callee
	relationCount
)

var relations = map[int64]relation{hash("caller"): caller, hash("self"): self, hash("callee"): callee}

// callTree is the call tree.
type callTree struct {
	parent   []int32
	function []int32            // rows of functions
	children map[[2]int32]int32 // by node and function
	pair     []int32            // by node but the root: the number of its caller's function and its own
	pairs    map[[2]int32]int32 // from 0
	above    []int32            // the nearest node above of the same function, -1 if there is none
	towards  []int32            // if there is one, the node below it on the way here
}

// newCallTree makes a tree of nodes with these parents, depths and functions, of so many.
func newCallTree(parent []int32, depth []int64, function []int32, functions int) *callTree {
	n := len(parent)
	t := &callTree{parent, function, make(map[[2]int32]int32, n), make([]int32, n), map[[2]int32]int32{}, make([]int32, n), make([]int32, n)}
	innermost := make([]int32, functions) // by function: its node on the path, 0 for none
	var path []int32                      // by depth
	for i := range int32(n) {
		for int64(len(path)) > depth[i] {
			left := path[len(path)-1]
			innermost[function[left]] = max(t.above[left], 0)
			path = path[:len(path)-1]
		}
		path = append(path, i)
		if t.above[i] = -1; i == 0 {
			continue
		}
		f := function[i]
		if above := innermost[f]; above > 0 {
			t.above[i], t.towards[i] = above, path[depth[above]+1]
		}
		innermost[f] = i
		t.children[[2]int32{parent[i], f}] = i
		t.pair[i] = t.number(function[parent[i]], f)
	}
	return t
}

// number returns the number of a pair, which may be new.
func (t *callTree) number(caller, callee int32) int32 {
	of := [2]int32{caller, callee}
	n, known := t.pairs[of]
	if !known {
		n = int32(len(t.pairs))
		t.pairs[of] = n
	}
	return n
}

// child returns the node of a function below another one; -1 if there is none, or no such
// other one.
func (t *callTree) child(node, function int32) int32 {
	if n, known := t.children[[2]int32{node, function}]; known {
		return n
	}
	return -1
}

// neighbours are the values attributed to neighbours of functions, by relation: of callers
// and callees by their pair, of functions themselves by function.
type neighbours [relationCount][]neighbour

// neighbour is a value, and whether there is a row of it.
type neighbour struct {
	value int64
	there bool
}

// neighbours returns what the nodes, given the values of the stacks that end at each and of
// those that pass it, attribute to the neighbours of their functions. A stack counts for those
// of a function's node that is nearest to its leaf: of what passes a node, what passes one of
// the same function below it counts there alone.
func (t *callTree) neighbours(own, all []int64, functions int) (n neighbours) {
	n[caller], n[self], n[callee] = make([]neighbour, len(t.pairs)), make([]neighbour, functions), make([]neighbour, len(t.pairs))
	for i := 1; i < len(all); i++ {
		if own[i] != 0 {
			f := &n[self][t.function[i]]
			f.value, f.there = f.value+own[i], true
		}
		if all[i] == 0 {
			continue
		}
		for _, r := range []relation{caller, callee} {
			p := &n[r][t.pair[i]]
			p.value, p.there = p.value+all[i], true
		}
		if above := t.above[i]; above > 0 {
			n[caller][t.pair[above]].value -= all[i]
			n[callee][t.pair[t.towards[i]]].value -= all[i]
		}
	}
	if len(all) > 0 { // <Total> has all as its own
		n[self][t.function[0]] = neighbour{all[0], all[0] != 0}
	}
	return n
}

// called is what a row of call_values is about: a place in neighbours.
type called struct {
	relation relation
	place    int32
}

// called returns what each row of call_values is about.
func (x *experiment) called(t *callTree) ([]called, error) {
	v := schema.CallValues
	list := make([]called, x.len(v))
	relation, other := x.col(v, "relation"), x.col(v, "other_no")
	for i, no := range x.col(v, "function_no") {
		f, err := x.function(no)
		g, err2 := x.function(other[i])
		r, known := relations[relation[i]]
		if errors.Join(err, err2) != nil || !known {
			return nil, errors.New("call_values: a function or relation is unknown")
		}
		place := f
		switch r {
		case caller:
			place, known = t.pairs[[2]int32{g, f}]
		case callee:
			place, known = t.pairs[[2]int32{f, g}]
		default:
			known = f == g
		}
		if !known {
			return nil, errors.New("call_values: no stack has a neighbour")
		}
		list[i] = called{r, place}
	}
	return list, nil
}

// compareCalls proves that rows have these values, each neighbour one that has a value.
func (x *experiment) compareCalls(runs []run, rows []called, n neighbours) error {
	attributed := x.col(schema.CallValues, "attributed")
	for _, r := range runs {
		for i := r.start; i < r.end; i++ {
			v := &n[rows[i].relation][rows[i].place]
			nothing := rows[i].relation == self && rows[i].place == x.total && *v == neighbour{} // <Total> has a row anyway
			if zero := x.signed && v.value == 0; !v.there && !nothing && !zero {
				return errors.New("call_values: a neighbour has no value, or two rows")
			}
			if attributed[i] != v.value {
				return errors.New("call_values: a value is not that of the stacks")
			}
			v.there = false
		}
	}
	for _, of := range n {
		for _, v := range of {
			if v.there && !(x.signed && v.value == 0) {
				return errors.New("call_values: a value is missing")
			}
		}
	}
	return nil
}
