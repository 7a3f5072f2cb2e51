package attribute

import (
	"slices"

	"stackmill/internal/prefixtree"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// CallTree is the call tree of all views: the functions on stacks, merged from the root
// `<Total>`, whose label is None.
type CallTree struct {
	*StackViews
	prefixtree.PreOrder[nodeNo, program.FunctionNo]
	Pairs    []Pair
	pairOf   []pairNo // by node: the pair (function of its parent, its function); the root has none
	endNodes []nodeNo // by index in ends and view: the node where the stacks end
}

// nodeNo is the number of a node of the call tree, pairNo the index of a pair in Pairs.
type (
	nodeNo int32
	pairNo int32
)

// Pair is a caller, None for `<Total>`, and a callee.
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

// endNodesOf returns, by view, the node where the stacks of the i-th entry of ends end.
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

// mergeView adds the paths of a view to merged. It sets nodes[n] to the merged node of the
// innermost function of node n of the stack tree, or to None if no stack passes n. before is what
// the previous view, if any, left in nodes: most paths are equal in both.
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

// findPairs numbers the pairs of callers and callees. Most callees have the same caller as at their
// last occurrence: that needs no map lookup.
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
