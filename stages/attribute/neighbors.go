package attribute

import (
	"cmp"
	"slices"

	"stackmill/schema"
	"stackmill/stages/program"
)

// The relations of a neighbor to its function.
const (
	relationCaller = iota
	relationSelf
	relationCallee
)

var relationNames = []string{"caller", "self", "callee"}

// pairValues holds the values attributed to a pair's caller and callee, by pair and view. If a
// function is on a stack more than once, only the neighbors of its leaf-most frame get the stack's
// value (S32, gprofng-experiment 8.3). So where a caller calls a callee, the caller gets the value
// unless the callee occurs again closer to the leaf, and the callee gets it unless the caller does.
type pairValues struct {
	passed grid // the sum of the inclusive values of all nodes of the pair
	caller grid // the part that the caller does not get: the callee occurs again below
	callee grid // the part that the callee does not get: the caller occurs again below
}

func newPairValues(pairs int, of rowLayout) pairValues {
	return pairValues{newGrid(pairs, of), newGrid(pairs, of), newGrid(pairs, of)}
}

// neighborValues returns the values attributed to a pair's caller and callee. ok is false if no
// stack with a value has the pair.
func (c *pairValues) neighborValues(pair, view int) (caller, callee int64, ok bool) {
	row := c.passed.row(pair)
	return row[view] - c.caller.row(pair)[view], row[view] - c.callee.row(pair)[view], c.passed.hasValue(row, view)
}

// functionPath holds the nodes of the call tree from the root to the current one.
type functionPath struct {
	steps []pathStep
	open  []int32 // by function: the index of its last step on the path, None for none
}

type pathStep struct {
	node, last nodeNo // last: the last node below, in pre-order
	function   program.FunctionNo
	outer      int32 // the index of the function's next step towards the root, None for none
}

func newFunctionPath(functions int) *functionPath {
	return &functionPath{open: slices.Repeat([]int32{program.None}, functions)}
}

// enter moves to the next node in pre-order; last is the last node below it. It returns the index
// in steps of the next node of the same function towards the root, or None.
func (p *functionPath) enter(node, last nodeNo, function program.FunctionNo) (outer int32) {
	i := len(p.steps)
	for ; i > 0 && p.steps[i-1].last < node; i-- {
		left := &p.steps[i-1]
		p.open[left.function] = left.outer
	}
	outer = p.open[function]
	p.steps = append(p.steps[:i], pathStep{node, last, function, outer})
	p.open[function] = int32(i)
	return outer
}

// neighbor is a row of call_values: a function with its caller or callee, or with itself.
type neighbor struct {
	function, other program.FunctionNo // None for `<Total>`
	relation        int32
	pair            pairNo // the pair of caller and callee; unused if relation is relationSelf
}

// neighbors returns the callers and callees of all functions, and each function as its own
// neighbor, sorted by function.
func (t *CallTree) neighbors() []neighbor {
	list := make([]neighbor, 0, 2*len(t.Pairs)+len(t.program.Functions)+1)
	for n, p := range t.Pairs {
		list = append(list, neighbor{p.Callee, p.Caller, relationCaller, pairNo(n)}, neighbor{p.Caller, p.Callee, relationCallee, pairNo(n)})
	}
	for n := range t.program.Functions {
		list = append(list, neighbor{function: program.FunctionNo(n), other: program.FunctionNo(n), relation: relationSelf})
	}
	list = append(list, neighbor{function: program.None, other: program.None, relation: relationSelf})
	slices.SortFunc(list, func(a, b neighbor) int {
		return cmp.Or(cmp.Compare(a.function, b.function), cmp.Compare(a.relation, b.relation), cmp.Compare(a.other, b.other))
	})
	return list
}

// attributed returns the value attributed to a neighbor in a view; ok is false if there is none.
func (v *MetricValues) attributed(n *neighbor, view int) (value int64, ok bool) {
	switch {
	case n.relation == relationSelf && n.function == program.None:
		return v.Total[view], true
	case n.relation == relationSelf:
		value, _, _ = v.Functions.values(int(n.function), view)
		return value, value != 0
	}
	toCaller, toCallee, ok := v.Calls.neighborValues(int(n.pair), view)
	if n.relation == relationCaller {
		return toCaller, ok
	}
	return toCallee, ok
}

// appendCalls appends the rows of call_values for metrics: the values attributed to neighbors.
func (r *Result) appendCalls(rows *schema.Rows, t *CallTree, list []neighbor, metrics []int, values []*MetricValues) {
	viewValues{t.modesOf(Plain | Plain.Inlined()), len(list), func(view, metric, n int) (value, _ int64, ok bool) {
		value, ok = values[metric].attributed(&list[n], view)
		return value, 0, ok
	}}.eachByModes(metrics, func(n, metric int, x modeValues) {
		to := &list[n]
		beginRow(rows, x.modes, metric).Int32(r.functionNumber(to.function)).Label(int(to.relation)).Int32(r.functionNumber(to.other)).Int64(x.a)
	})
}
