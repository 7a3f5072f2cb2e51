package attribute

// The relations of a neighbour.
const (
	Caller = iota
	Self
	Callee
)

// relations are their names.
var relations = []string{"caller", "self", "callee"}

// Call is a function's neighbour.
type Call struct {
	Function, Other int32 // totalFunction for `<Total>`
	Relation        int
}

// Calls are the values attributed to the neighbours of functions.
type Calls struct {
	Calls      []Call
	Attributed []int64 // by call and metric
	Seen       []bool  // by call and metric: whether a stack with a value has the pair

	metrics int
	numbers map[edge]int32 // in pairs
	pairs   []pair
	self    []int32 // by function: its call, -1 for none
}

// edge is a caller and a callee.
type edge struct{ from, to int32 }

// pair are the two calls of an edge: the callee's caller and the caller's callee.
type pair struct{ caller, callee int32 }

func newCalls(functions, metrics int) Calls {
	c := Calls{metrics: metrics, numbers: map[edge]int32{}, self: make([]int32, functions)}
	for i := range c.self {
		c.self[i] = -1
	}
	return c
}

func (c *Calls) add(call Call) int32 {
	c.Calls = append(c.Calls, call)
	return int32(len(c.Calls) - 1)
}

// path adds the calls of a stack whose leaf is that node of the tree; the nodes
// from fresh on are its own. The calls stand in the order in which stacks have
// them, each stack from its leaf.
func (c *Calls) path(t *Tree, leaf, fresh int32) {
	below := int32(-1) // the pair of the node and its child, if it is new
	for n := leaf; ; n = t.parent[n] {
		f := t.Nodes[n].Function
		above := int32(-1)
		if n >= fresh {
			above = c.pair(t, n, f)
		}
		switch {
		case below >= 0:
			p := &c.pairs[below]
			p.callee = c.add(Call{f, c.Calls[p.caller].Function, Callee})
		case n == leaf && n > 0 && c.self[f] < 0:
			c.self[f] = c.add(Call{f, f, Self})
		}
		if n < fresh {
			return
		}
		below = above
	}
}

// pair finds the pair of a new node's function and its parent's, and returns its
// number when it is new, else -1.
func (c *Calls) pair(t *Tree, n, f int32) int32 {
	e := edge{t.Nodes[t.parent[n]].Function, f}
	number, ok := c.numbers[e]
	if !ok {
		number = int32(len(c.pairs))
		c.numbers[e] = number
		c.pairs = append(c.pairs, pair{caller: c.add(Call{f, e.from, Caller})})
	}
	t.Nodes[n].pair = number
	if ok {
		return -1
	}
	return number
}

// attribute gives the values of the tree's nodes to the neighbours of each
// function's leaf-most frame; neighbours of its other frames get none
// (gprofng-experiment 8.3): what passes a node without passing its function
// again is attributed to its parent as caller, and to its child that it passes
// as callee.
func (c *Calls) attribute(t *Tree, functions int) {
	c.Attributed, c.Seen = make([]int64, len(c.Calls)*c.metrics), make([]bool, len(c.Calls)*c.metrics)
	callers, callees := values(t.All), values(t.All) // by node and metric: what it and its parent attribute to each other
	subtract := func(from []int64, node, n int32) {
		for m, s := range t.all(n) {
			from[int(node)*c.metrics+m] -= s.Value
		}
	}
	last, above := make([]int32, functions), make([]int32, len(t.Nodes)) // the same function's node above, 0 for none
	var path []int32
	t.descend(func(n int32) {
		node := &t.Nodes[n]
		path = append(path[:node.Depth-1], n)
		if above[n] = last[node.Function]; above[n] > 0 {
			subtract(callers, above[n], n)
			subtract(callees, path[t.Nodes[above[n]].Depth], n)
		}
		last[node.Function] = n
	}, func(n int32) { last[t.Nodes[n].Function] = above[n] })
	for n := 1; n < len(t.Nodes); n++ {
		node, p := &t.Nodes[n], &c.pairs[t.Nodes[n].pair]
		for m, s := range t.all(int32(n)) {
			c.give(p.caller, m, callers[n*c.metrics+m], s.Samples)
			c.give(p.callee, m, callees[n*c.metrics+m], s.Samples)
		}
		if self := c.self[node.Function]; self >= 0 {
			for m, s := range t.own(int32(n)) {
				c.give(self, m, s.Value, s.Samples)
			}
		}
	}
}

func (c *Calls) give(call int32, metric int, value, samples int64) {
	at := int(call)*c.metrics + metric
	c.Attributed[at] += value
	c.Seen[at] = c.Seen[at] || samples > 0
}

func values(sums []Sum) []int64 {
	v := make([]int64, len(sums))
	for i, s := range sums {
		v[i] = s.Value
	}
	return v
}
