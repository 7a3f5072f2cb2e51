package attribute

import (
	"slices"

	"stackmill/internal/prefixtree"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// CallTree is the call tree of all views: it merges the stacks' functions, from the root on, into
// nodes. The root is `<Total>`, with the label None.
type CallTree struct {
	*StackViews
	prefixtree.PreOrder[nodeNo, program.FunctionNo]
	Pairs    []Pair
	pairOf   []pairNo // by node: the pair (function of its parent, its function); the root has none
	endNodes []nodeNo // for each index in ends and each view: the node where the stacks end
}

// nodeNo is the number of a node of the call tree, pairNo the index of a pair in Pairs.
type (
	nodeNo int32
	pairNo int32
)

// Pair is a caller and a function that it calls. Caller is None for `<Total>`.
type Pair struct{ Caller, Callee program.FunctionNo }

// NewCallTree makes the call tree of the stacks that have samples.
func NewCallTree(s *StackViews) *CallTree {
	width := len(s.Views)
	t := &CallTree{StackViews: s, endNodes: make([]nodeNo, len(s.ends.nodes)*width)}
	merged := prefixtree.New[nodeNo, program.FunctionNo](program.None)
	passed := s.passedNodes()
	nodes, before := make([]nodeNo, len(passed)), make([]nodeNo, len(passed))
	for view := range s.Views {
		s.mergeView(&merged, view, passed, nodes, before)
		for i, n := range s.ends.nodes {
			t.endNodes[i*width+view] = nodes[n]
		}
		nodes, before = before, nodes
	}
	var number []nodeNo
	t.PreOrder, number = merged.Order()
	for i, end := range t.endNodes {
		t.endNodes[i] = number[end]
	}
	t.findPairs()
	return t
}

// endNodesOf returns, for each view, the call-tree node of the leaf of the stacks that end at
// ends.nodes[i].
func (t *CallTree) endNodesOf(i int) []nodeNo { return t.endNodes[i*len(t.Views):][:len(t.Views)] }

// passedNodes reports, by node of the stack tree, whether a stack with samples passes it.
func (s *StackViews) passedNodes() []bool {
	t := &s.stacks.Nodes
	passed := make([]bool, t.Len())
	for _, n := range s.ends.nodes {
		passed[n] = true
	}
	for n := t.Len() - 1; n > 0; n-- {
		if passed[n] {
			passed[t.Parent[n]] = true
		}
	}
	return passed
}

// mergeView adds the stacks, as a view shows them, to merged. It sets nodes[n], for each node n of
// the stack tree, to the merged node of n's innermost function, or to None if no stack passes n.
// before holds the nodes of the previous view: most of them are the same.
func (s *StackViews) mergeView(merged *prefixtree.Tree[nodeNo, program.FunctionNo], view int, passed []bool, nodes, before []nodeNo) {
	v, t := &s.Views[view], &s.stacks.Nodes
	same := make([]bool, len(v.shows)) // by frame: the previous view shows the same functions
	for frame := range same {
		same[frame] = view > 0 && slices.EqualFunc(v.positionsOf(stacktree.FrameNo(frame)), s.Views[view-1].positionsOf(stacktree.FrameNo(frame)),
			func(a, b position) bool { return a.function == b.function })
	}
	nodes[0] = 0
	for n := 1; n < t.Len(); n++ {
		if !passed[n] {
			nodes[n] = program.None
			continue
		}
		above, frame := t.Parent[n], t.Label[n]
		node := nodes[above]
		if same[frame] && before[above] == node {
			node = before[n]
		} else {
			for _, at := range v.positionsOf(frame) {
				node, _ = merged.Child(node, at.function)
			}
		}
		nodes[n] = node
	}
}

// findPairs numbers the distinct pairs of callers and callees. It remembers the last pair of each
// callee: most nodes of a function have the same caller, and need no map lookup.
func (t *CallTree) findPairs() {
	last := slices.Repeat([]pairNo{program.None}, len(t.program.Functions)) // by callee
	numbers := map[Pair]pairNo{}
	t.pairOf = make([]pairNo, t.Len())
	for n := 1; n < t.Len(); n++ {
		p := Pair{t.Label[t.Parent[n]], t.Label[n]}
		pair := &last[p.Callee]
		if *pair < 0 || t.Pairs[*pair] != p {
			*pair = intern(numbers, &t.Pairs, p)
		}
		t.pairOf[n] = *pair
	}
}
