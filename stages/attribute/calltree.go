package attribute

import (
	"slices"

	"stackmill/internal/prefixtree"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// CallTree is the call tree: the functions on stacks in all views, merged from
// `<Total>`, which is the root, with None as its label.
type CallTree struct {
	*Shape
	prefixtree.Ordered[nodeNo, program.FunctionNo]
	Pairs []Pair
	pair  []pairNo // by node but the root: of the functions of its parent and of it
	at    []nodeNo // by end of stacks and view: where they end
}

// nodeNo is the number of a node of the call tree, and pairNo that of a pair: its
// index in Pairs.
type (
	nodeNo int32
	pairNo int32
)

// Pair is a caller, None for `<Total>`, and a callee.
type Pair struct{ Caller, Callee program.FunctionNo }

// NewCallTree makes the call tree of the stacks that count for a metric.
func NewCallTree(s *Shape) *CallTree {
	width := len(s.Views)
	t := &CallTree{Shape: s, at: make([]nodeNo, len(s.ends.nodes)*width)}
	merged := prefixtree.New[nodeNo, program.FunctionNo](program.None)
	passed := s.passed()
	nodes, before := make([]nodeNo, len(passed)), make([]nodeNo, len(passed))
	for view := range s.Views {
		s.merge(&merged, view, passed, nodes, before)
		for i, n := range s.ends.nodes {
			t.at[i*width+view] = nodes[n]
		}
		nodes, before = before, nodes
	}
	var number []nodeNo
	t.Ordered, number = merged.Order()
	for i, end := range t.at {
		t.at[i] = number[end]
	}
	t.findPairs()
	return t
}

// end returns where the stacks of an end are, by view.
func (t *CallTree) end(i int) []nodeNo { return t.at[i*len(t.Views):][:len(t.Views)] }

// passed says, by node of the stacks, whether one that counts passes it.
func (s *Shape) passed() []bool {
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

// merge adds the functions that a view shows of stacks, where nodes are passed. It sets
// nodes: by node of the stacks the merged node of the innermost, None where they are not
// passed. before has those of the view before, if there is one: most paths are as there.
func (s *Shape) merge(merged *prefixtree.Tree[nodeNo, program.FunctionNo], view int, passed []bool, nodes, before []nodeNo) {
	v, t := &s.Views[view], &s.stacks.Nodes
	same := make([]bool, len(v.shows)) // by frame: whether its functions are those of the view before
	for frame := range same {
		same[frame] = view > 0 && slices.EqualFunc(v.of(stacktree.FrameNo(frame)), s.Views[view-1].of(stacktree.FrameNo(frame)),
			func(a, b place) bool { return a.function == b.function })
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
			for _, at := range v.of(frame) {
				node, _ = merged.Child(node, at.function)
			}
		}
		nodes[n] = node
	}
}

// findPairs numbers the pairs of callers and callees. The pair of a callee is mostly
// the one it had last.
func (t *CallTree) findPairs() {
	last := slices.Repeat([]pairNo{program.None}, len(t.program.Functions)) // by callee
	numbers := map[Pair]pairNo{}
	t.pair = make([]pairNo, t.Len())
	for n := 1; n < t.Len(); n++ {
		p := Pair{t.Label[t.Parent[n]], t.Label[n]}
		pair := &last[p.Callee]
		if *pair < 0 || t.Pairs[*pair] != p {
			*pair = number(numbers, &t.Pairs, p)
		}
		t.pair[n] = *pair
	}
}
