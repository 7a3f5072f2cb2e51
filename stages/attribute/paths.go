package attribute

import (
	"slices"

	"stackmill/stages/unwind"
)

// paths are distinct stacks merged from their roots: what they have in common is
// looked at once. The root of all is no frame.
type paths struct {
	tree         // its labels are locations
	leaf []int32 // by stack: its leaf's node
}

func newPaths(stacks []unwind.Stack) *paths {
	p := &paths{tree: newTree(-1), leaf: make([]int32, len(stacks))}
	var before []int32 // the nodes of the stack before, root first: much is the same
	for n, s := range stacks {
		node, depth, same := int32(0), 0, true
		for _, f := range slices.Backward(s.Frames) {
			if same = same && depth < len(before) && p.label[before[depth]] == f.Location; same {
				node = before[depth]
			} else {
				node, _ = p.child(node, f.Location)
				before = append(before[:depth], node)
			}
			depth++
		}
		before = before[:depth]
		p.leaf[n] = node
	}
	return p
}
