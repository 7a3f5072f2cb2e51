package attribute

import "stackmill/schema"

// Tree is the call tree: the functions of stacks merged from their roots. The
// root is `<Total>`.
type Tree struct {
	branches
	Nodes    []Node
	children map[edge]int32 // by node and function
}

// Node is a node of the call tree.
type Node struct {
	ID       int64
	Depth    int32
	Function int32 // totalFunction for the root
	pair     int32 // of it and its parent, in Calls
}

func newTree(metrics int) Tree {
	return Tree{branches: newBranches(metrics), Nodes: []Node{{Function: totalFunction}}, children: map[edge]int32{}}
}

// child returns a node's child of a function.
func (t *Tree) child(parent, function int32) int32 {
	e := edge{parent, function}
	n, ok := t.children[e]
	if !ok {
		n = t.add(parent)
		t.Nodes = append(t.Nodes, Node{Depth: t.Nodes[parent].Depth + 1, Function: function})
		t.children[e] = n
	}
	return n
}

// identify gives each node its identifier: that of the functions above it.
func (t *Tree) identify(functionID func(int32) int64) {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		id := schema.NewID("node")
		if i > 0 {
			id.Number(uint64(t.Nodes[t.parent[i]].ID))
		}
		n.ID = id.Number(uint64(functionID(n.Function))).Sum()
	}
}
