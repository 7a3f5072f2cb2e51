package attribute

import (
	"slices"

	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// pathNo is the number of a node of the paths, which is a frame.
type pathNo int32

// paths are distinct stacks merged from their roots: what they have in common is
// looked at once. The common root is not a frame.
type paths struct {
	tree[pathNo, symbolize.LocationNo]
	leaf []pathNo // by stack: its leaf
}

func newPaths(stacks []unwind.Stack) *paths {
	p := &paths{tree: newTree[pathNo, symbolize.LocationNo](symbolize.None), leaf: make([]pathNo, len(stacks))}
	var before []pathNo // the nodes of the stack before, root first: much is the same
	for n, s := range stacks {
		node, depth, same := pathNo(0), 0, true
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
