package attribute

// The relations of a neighbour.
const (
	caller = iota
	self
	callee
)

// relations are their names.
var relations = []string{"caller", "self", "callee"}

// calls are the values attributed to the neighbours of functions. A function's
// neighbour is itself where it is the leaf, with its exclusive value.
type calls struct {
	Callers []int64 // by pair and column: attributed to the caller of the callee's
	Callees []int64 // attributed to the callee of the caller's
	Seen    []bool  // by pair and column: whether a stack with a value has the pair
	Selves  []bool  // by function and column: whether one with a value ends there
}

// call attributes the values of the tree's nodes to the neighbours of each
// function's leaf-most frame; neighbours of its other frames get none
// (gprofng-experiment 8.3). So what passes a node without passing its function
// again goes to its parent as caller, and to the child that it passes as callee.
func (v *Values) call() {
	t, width := &v.Tree, v.width
	v.Calls = calls{
		make([]int64, len(v.Pairs)*width), make([]int64, len(v.Pairs)*width), make([]bool, len(v.Pairs)*width),
		make([]bool, len(v.program.Functions)*width),
	}
	last, above := make([]nodeNo, len(v.program.Functions)), make([]nodeNo, len(t.Nodes)) // of the same function, 0 for none
	var path []nodeNo
	give := func(to []int64, node, n nodeNo, sign int64) {
		at := int(t.Nodes[node].pair) * width
		for i, s := range v.all(n) {
			to[at+i] += sign * s.Value
		}
	}
	t.Descend(func(n nodeNo) {
		node := &t.Nodes[n]
		give(v.Calls.Callers, n, n, 1)
		give(v.Calls.Callees, n, n, 1)
		for i, s := range v.all(n) {
			at := int(node.pair)*width + i
			v.Calls.Seen[at] = v.Calls.Seen[at] || s.Samples > 0
		}
		for i, s := range v.own(n) {
			at := int(node.Function)*width + i
			v.Calls.Selves[at] = v.Calls.Selves[at] || s.Samples > 0
		}
		path = append(path[:node.Depth-1], n)
		if above[n] = last[node.Function]; above[n] > 0 {
			give(v.Calls.Callers, above[n], n, -1)
			give(v.Calls.Callees, path[t.Nodes[above[n]].Depth], n, -1)
		}
		last[node.Function] = n
	}, func(n nodeNo) { last[t.Nodes[n].Function] = above[n] })
}
