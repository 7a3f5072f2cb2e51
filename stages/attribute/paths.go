package attribute

import (
	"slices"

	"stackmill/stages/unwind"
)

// paths are distinct stacks merged from their roots: what they have in common is
// looked at once. The root of all is no frame.
type paths struct {
	tree
	location []int32 // by node; -1 of the root
	leaf     []int32 // by stack: its leaf's node
}

func newPaths(stacks []unwind.Stack) *paths {
	p := &paths{tree: newTree(), location: []int32{-1}, leaf: make([]int32, len(stacks))}
	children := map[edge]int32{} // by parent and location
	var before []int32           // the nodes of the stack before, root first: much is the same
	for n, s := range stacks {
		node, depth, same := int32(0), 0, true
		for _, f := range slices.Backward(s.Frames) {
			if same = same && depth < len(before) && p.location[before[depth]] == f.Location; same {
				node = before[depth]
			} else {
				node = p.child(children, node, f.Location)
				before = append(before[:depth], node)
			}
			depth++
		}
		before = before[:depth]
		p.leaf[n] = node
	}
	return p
}

func (p *paths) child(children map[edge]int32, parent, location int32) int32 {
	e := edge{parent, location}
	n, ok := children[e]
	if !ok {
		n = p.add(parent)
		p.location = append(p.location, location)
		children[e] = n
	}
	return n
}

// edge leads to a node, or a function, from the one above it.
type edge struct{ from, to int32 }
