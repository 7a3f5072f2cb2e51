package serve

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// flameTree is the merged call tree of experiments. Node 0 is the root.
type flameTree struct {
	nodes     []flameNode // a node comes after its parent
	index     map[nodeKey]int32
	ids       map[functionName]int32
	functions []functionName
}

type flameNode struct {
	parent           int32 // -1 for the root
	name             int32 // index into functions
	value, exclusive int64
}

// nodeKey identifies a node by its parent and its function.
type nodeKey struct{ parent, name int32 }

// functionName identifies a function across experiments. Load object and module are short paths, because builds are
// in different folders. Functions that differ only in their addresses are the same.
type functionName struct{ function, loadObject, module, kind string }

// newFlameTree returns an empty tree with room for that many nodes.
func newFlameTree(room int) *flameTree {
	return &flameTree{nodes: make([]flameNode, 0, room), index: make(map[nodeKey]int32, room), ids: map[functionName]int32{}}
}

// intern returns the index of a function in t.functions. It copies the texts of a new function.
func (t *flameTree) intern(n functionName) int32 {
	number, ok := t.ids[n]
	if !ok {
		n = functionName{strings.Clone(n.function), strings.Clone(n.loadObject), strings.Clone(n.module), strings.Clone(n.kind)}
		number = int32(len(t.functions))
		t.ids[n] = number
		t.functions = append(t.functions, n)
	}
	return number
}

// node returns the child of parent with a function. It adds the child if there is none.
func (t *flameTree) node(parent, name int32) int32 {
	key := nodeKey{parent, name}
	n, ok := t.index[key]
	if !ok {
		n = int32(len(t.nodes))
		t.nodes = append(t.nodes, flameNode{parent: parent, name: name})
		t.index[key] = n
	}
	return n
}

// merge adds the call tree of an experiment, in which nodes must come after their callers.
func (t *flameTree) merge(nodes []callNode) error {
	at := make([]int32, len(nodes))
	for i, n := range nodes {
		at[i] = -1
		if !n.valued {
			continue
		}
		caller := int32(-1)
		if n.parent >= 0 {
			if int(n.parent) >= i || at[n.parent] < 0 {
				return errDamaged
			}
			caller = at[n.parent]
		}
		at[i] = t.node(caller, n.name)
		of := &t.nodes[at[i]]
		if n.value < 0 || n.self < 0 || n.self > n.value {
			return errDamaged
		}
		if of.value > math.MaxInt64-n.value {
			return errTooLarge
		}
		of.value, of.exclusive = of.value+n.value, of.exclusive+n.self
	}
	return nil
}

// total returns the value of the root.
func (t *flameTree) total() int64 {
	if len(t.nodes) == 0 {
		return 0
	}
	return t.nodes[0].value
}

// flameCut is the part of a tree that is shown, in drawing order: a node is followed by its children, the highest
// values first. The sum of children that are left out comes last.
type flameCut struct {
	*flameTree
	shown []flameShown
}

// flameShown is a node, or the sum of nodes that are left out below one node.
type flameShown struct {
	name             int32 // index into flameTree.functions; -1 for left-out nodes
	level            int32
	more             int // number of left-out nodes; 0 for a node
	value, exclusive int64
}

// cut returns the nodes with the highest values: at most `most`, including the sums of left-out nodes. A node is
// never without its caller.
func (t *flameTree) cut(most int) flameCut {
	in := chooseNodes(len(t.nodes), most, func(n int) (parent int32, value int64) { return t.nodes[n].parent, t.nodes[n].value })
	rest := map[int32]flameShown{}       // sums of left-out children, by parent
	below := make([]int32, len(t.nodes)) // by left-out node: number of nodes below it
	var order []int32
	for n := len(t.nodes) - 1; n >= 0; n-- {
		p := t.nodes[n].parent
		switch {
		case in[n]:
			order = append(order, int32(n))
		case p >= 0 && in[p]:
			value := rest[p].value + t.nodes[n].value
			rest[p] = flameShown{name: -1, more: rest[p].more + 1 + int(below[n]), value: value, exclusive: value}
		case p >= 0:
			below[p] += 1 + below[n]
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := t.nodes[a], t.nodes[b]
		return cmp.Or(cmp.Compare(x.parent, y.parent), cmp.Compare(y.value, x.value), compareNames(t.functions[x.name], t.functions[y.name]))
	})
	c := flameCut{flameTree: t, shown: make([]flameShown, 0, len(order)+len(rest))}
	walkInOrder(order, func(n int32) int32 { return t.nodes[n].parent }, func(n int32) bool { return rest[n].more > 0 }, func(n, level int32) {
		s := rest[^n]
		if n >= 0 {
			s = flameShown{name: t.nodes[n].name, value: t.nodes[n].value, exclusive: t.nodes[n].exclusive}
		}
		s.level = level
		c.shown = append(c.shown, s)
	})
	return c
}

func compareNames(a, b functionName) int {
	return cmp.Or(cmp.Compare(a.function, b.function), cmp.Compare(a.loadObject, b.loadObject), cmp.Compare(a.module, b.module), cmp.Compare(a.kind, b.kind))
}

// walkInOrder calls visit for the nodes in order, a node's children right after it, with their levels. order must be
// sorted by parent, and siblings in drawing order. If leftOut says that children of a node are left out, visit(^node)
// follows its other children. There is no recursion, because stacks may be very deep.
func walkInOrder(order []int32, parent func(int32) int32, leftOut func(int32) bool, visit func(node, level int32)) {
	children := map[int32][]int32{}
	for i := 0; i < len(order); {
		p, from := parent(order[i]), i
		for i < len(order) && parent(order[i]) == p {
			i++
		}
		children[p] = order[from:i]
	}
	type place struct{ node, level int32 }
	var open []place
	if len(order) > 0 {
		open = append(open, place{order[0], 0})
	}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		visit(at.node, at.level)
		if at.node < 0 {
			continue
		}
		if leftOut(at.node) {
			open = append(open, place{^at.node, at.level + 1})
		}
		for _, child := range slices.Backward(children[at.node]) {
			open = append(open, place{child, at.level + 1})
		}
	}
}

// chooseNodes returns which nodes to show: those with the highest values, at most `most`, and always the root. The
// sum of a node's left-out children counts as one. Nodes must come after their callers and have no higher values than
// these.
func chooseNodes[V cmp.Ordered](nodes, most int, of func(int) (parent int32, value V)) (in []bool) {
	values, callees := make([]V, nodes), make([]int32, nodes) // callees: number of children that are not chosen
	for n := range nodes {
		var p int32
		if p, values[n] = of(n); p >= 0 {
			callees[p]++
		}
	}
	kept, shown := 0, 0
	order := highest(values, most)
	for i, n := range order {
		shown++
		if callees[n] > 0 {
			shown++ // for `<N more>` below it
		}
		if p, _ := of(int(n)); p >= 0 {
			if callees[p]--; callees[p] == 0 {
				shown--
			}
		}
		if shown <= most {
			kept = i + 1
		}
	}
	in = make([]bool, nodes)
	for _, n := range order[:max(kept, min(1, len(order)))] {
		p, _ := of(int(n))
		in[n] = p < 0 || in[p]
	}
	return in
}

// highest returns the indexes of the `most` highest values, in descending order of value; of equal values, the lower
// index comes first.
func highest[V cmp.Ordered](values []V, most int) []int32 {
	most = min(most, len(values))
	if most == 0 {
		return nil
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	limit := sorted[len(sorted)-most]
	var above, equal []int32
	for n, v := range values {
		switch {
		case v > limit:
			above = append(above, int32(n))
		case v == limit && len(equal) < most:
			equal = append(equal, int32(n))
		}
	}
	slices.SortFunc(above, func(a, b int32) int { return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b)) })
	return append(above, equal[:most-len(above)]...)
}
