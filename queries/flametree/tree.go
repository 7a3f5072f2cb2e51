// Package flametree merges call trees, and chooses the part of the merged tree that a flame graph shows.
//
// Start reading with Tree and Tree.Cut.
package flametree

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
)

// Tree is the merged call tree of experiments. Node 0 is the root.
type Tree struct {
	Nodes     []Node // a node comes after its parent
	index     map[nodeKey]int32
	ids       map[Function]int32
	Functions []Function
}

// Node is a function on one path from the root.
type Node struct {
	Parent           int32 // -1 for the root
	Name             int32 // index into Functions
	Value, Exclusive int64
}

// CallNode is a node of the call tree of an experiment.
type CallNode struct {
	Parent      int32 // -1 for the root
	Name        int32 // index into Tree.Functions
	Value, Self int64
	Valued      bool // whether it has a value; other nodes are not shown
}

// Errors of Merge.
var (
	ErrDamaged  = errors.New("the call tree is damaged: a node has no caller, no function or an impossible value (run stackmill check)")
	ErrTooLarge = errors.New("the sum of these experiments' values exceeds 64 bits (choose fewer experiments)")
)

// nodeKey identifies a node by its parent and its function.
type nodeKey struct{ parent, name int32 }

// Function identifies a function across experiments. Load object and module are short paths, because builds may be
// in different folders. Functions that differ only in their addresses are the same function.
type Function struct{ Name, LoadObject, Module, Kind string }

// Group returns the name of the function, of its module or of its load object, as Groups names them; "" if it has no
// known one.
func (f Function) Group(by string) string {
	name := f.Name
	switch by {
	case "module":
		name = f.Module
	case "load-object":
		name = f.LoadObject
	}
	if name == "(unknown)" || strings.HasPrefix(name, "<") && by != "function" {
		return ""
	}
	return name
}

// New returns an empty tree with room for that many nodes.
func New(room int) *Tree {
	return &Tree{Nodes: make([]Node, 0, room), index: make(map[nodeKey]int32, room), ids: map[Function]int32{}}
}

// Intern returns the index of a function in t.Functions. It copies the texts of a new function.
func (t *Tree) Intern(n Function) int32 {
	number, ok := t.ids[n]
	if !ok {
		n = Function{strings.Clone(n.Name), strings.Clone(n.LoadObject), strings.Clone(n.Module), strings.Clone(n.Kind)}
		number = int32(len(t.Functions))
		t.ids[n] = number
		t.Functions = append(t.Functions, n)
	}
	return number
}

// Child returns the child of parent with a function. It adds the child if there is none.
func (t *Tree) Child(parent, name int32) int32 {
	key := nodeKey{parent, name}
	n, ok := t.index[key]
	if !ok {
		n = int32(len(t.Nodes))
		t.Nodes = append(t.Nodes, Node{Parent: parent, Name: name})
		t.index[key] = n
	}
	return n
}

// Merge adds the call tree of an experiment, in which nodes must come after their callers.
func (t *Tree) Merge(nodes []CallNode) error {
	at := make([]int32, len(nodes))
	for i, n := range nodes {
		at[i] = -1
		if !n.Valued {
			continue
		}
		caller := int32(-1)
		if n.Parent >= 0 {
			if int(n.Parent) >= i || at[n.Parent] < 0 {
				return ErrDamaged
			}
			caller = at[n.Parent]
		}
		at[i] = t.Child(caller, n.Name)
		of := &t.Nodes[at[i]]
		if n.Value < 0 || n.Self < 0 || n.Self > n.Value {
			return ErrDamaged
		}
		if of.Value > math.MaxInt64-n.Value {
			return ErrTooLarge
		}
		of.Value, of.Exclusive = of.Value+n.Value, of.Exclusive+n.Self
	}
	return nil
}

// Total returns the value of the root.
func (t *Tree) Total() int64 {
	if len(t.Nodes) == 0 {
		return 0
	}
	return t.Nodes[0].Value
}

// Cut is the part of a tree that is shown, in drawing order: a node is followed by its children, the highest
// values first. The sum of children that are left out comes last.
type Cut struct {
	*Tree
	Shown  []ShownNode
	Placed bool // nodes have positions and identities
}

// ShownNode is a node, or the sum of nodes that are left out below the node one level higher.
type ShownNode struct {
	Name             int32 // index into Functions; -1 for a sum
	Level            int32
	More             int // number of left-out nodes; 0 for a node
	Value, Exclusive int64
	Start            int64  // Frame.Start, if Placed
	ID               uint64 // Frame.ID, if Placed
}

// Show returns frames of a layout as a part of a tree.
func Show(l *Layout[int64], frames []Frame[int64]) Cut {
	c := Cut{Tree: &Tree{Functions: l.Functions}, Shown: make([]ShownNode, len(frames)), Placed: true}
	for i, f := range frames {
		c.Shown[i] = ShownNode{f.Function, f.Level, int(f.More), f.Value, f.Exclusive, f.Start, f.ID}
	}
	return c
}

// Cut returns the nodes with the highest values: at most `most`, including the sums of left-out nodes. A node is
// never without its caller.
func (t *Tree) Cut(most int) Cut {
	in := ChooseNodes(len(t.Nodes), most, func(n int) (parent int32, value int64) { return t.Nodes[n].Parent, t.Nodes[n].Value })
	rest := map[int32]ShownNode{}        // sums of left-out children, by parent
	below := make([]int32, len(t.Nodes)) // by left-out node: number of nodes below it
	var order []int32
	for n := len(t.Nodes) - 1; n >= 0; n-- {
		p := t.Nodes[n].Parent
		switch {
		case in[n]:
			order = append(order, int32(n))
		case p >= 0 && in[p]:
			value := rest[p].Value + t.Nodes[n].Value
			rest[p] = ShownNode{Name: -1, More: rest[p].More + 1 + int(below[n]), Value: value, Exclusive: value}
		case p >= 0:
			below[p] += 1 + below[n]
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := t.Nodes[a], t.Nodes[b]
		return cmp.Or(cmp.Compare(x.Parent, y.Parent), cmp.Compare(y.Value, x.Value), compareNames(t.Functions[x.Name], t.Functions[y.Name]))
	})
	c := Cut{Tree: t, Shown: make([]ShownNode, 0, len(order)+len(rest))}
	WalkInOrder(order, func(n int32) int32 { return t.Nodes[n].Parent }, func(n int32) bool { return rest[n].More > 0 }, func(n, level int32) {
		s := rest[^n]
		if n >= 0 {
			s = ShownNode{Name: t.Nodes[n].Name, Value: t.Nodes[n].Value, Exclusive: t.Nodes[n].Exclusive}
		}
		s.Level = level
		c.Shown = append(c.Shown, s)
	})
	return c
}

func compareNames(a, b Function) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.LoadObject, b.LoadObject), cmp.Compare(a.Module, b.Module), cmp.Compare(a.Kind, b.Kind))
}

// WalkInOrder calls visit for the nodes in order, a node's children right after it, with their levels. order must be
// sorted by parent, and siblings in drawing order. If leftOut says that children of a node are left out, visit(^node)
// follows its other children. There is no recursion, because stacks may be very deep.
func WalkInOrder(order []int32, parent func(int32) int32, leftOut func(int32) bool, visit func(node, level int32)) {
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

// ChooseNodes chooses the nodes to show: the ones with the highest values, at most `most`, and always the root. The
// sum of a node's left-out children counts as a node. Nodes must come after their callers and must not have higher
// values than their callers.
func ChooseNodes[V cmp.Ordered](nodes, most int, of func(int) (parent int32, value V)) (in []bool) {
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
