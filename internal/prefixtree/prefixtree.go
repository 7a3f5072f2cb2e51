// Package prefixtree merges lists into a tree (a trie), which stores and processes their common
// prefixes once.
package prefixtree

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
)

// Tree is a trie with nodes of type N and labels of type L. Node 0 is the root; parents have lower
// numbers than their children. Nodes contain no pointers. A node's first child usually directly
// follows it; a hash table finds the other children.
type Tree[N, L ~int32] struct {
	nodes  chunked.List[node[N, L]]
	seed   uint64
	table  []edge[N, L] // hash table: its length is a power of 2; edges to the root are free slots
	hashed int          // edges in the table
}

// node has a node's parent, negative for the root, and its label, which distinguishes it from its
// siblings.
type node[N, L ~int32] struct {
	parent N
	label  L
}

// edge is the edge from a node to its child with a label.
type edge[N, L ~int32] struct {
	from N
	by   L
	to   N
}

// firstSlots is the initial size of the hash table.
const firstSlots = 64

// New returns a tree with only a root.
func New[N, L ~int32](label L) Tree[N, L] {
	t := Tree[N, L]{seed: rand.Uint64(), table: make([]edge[N, L], firstSlots)}
	t.nodes.Add(node[N, L]{-1, label})
	return t
}

// Len returns the number of nodes, including the root.
func (t *Tree[N, L]) Len() int { return t.nodes.Len() }

// Parent returns a node's parent, negative for the root.
func (t *Tree[N, L]) Parent(n N) N { return t.nodes.At(int(n)).parent }

// Label returns a node's label.
func (t *Tree[N, L]) Label(n N) L { return t.nodes.At(int(n)).label }

// Child returns the child of a node by its label, and adds it if there is none.
func (t *Tree[N, L]) Child(parent N, label L) (child N, added bool) {
	child = N(t.Len())
	if next := parent + 1; next < child { // else parent has no child, and the new one will directly follow it
		if *t.nodes.At(int(next)) == (node[N, L]{parent, label}) {
			return next, false
		}
		at := t.slot(parent, label)
		if to := t.table[at].to; to != 0 {
			return to, false
		}
		t.table[at] = edge[N, L]{parent, label, child}
		if t.hashed++; 4*t.hashed > 3*len(t.table) {
			t.grow()
		}
	}
	t.nodes.Add(node[N, L]{parent, label})
	return child, true
}

// slot returns the slot of an edge in the table, or a free slot for it.
func (t *Tree[N, L]) slot(from N, by L) int {
	high, low := bits.Mul64((uint64(uint32(from))<<32|uint64(uint32(by)))^t.seed, 0x9e3779b97f4a7c15)
	mask := len(t.table) - 1
	at := int(high^low) & mask
	for e := &t.table[at]; e.to != 0 && (e.from != from || e.by != by); e = &t.table[at] {
		at = (at + 1) & mask
	}
	return at
}

// grow doubles the table.
func (t *Tree[N, L]) grow() {
	edges := t.table
	t.table = chunked.MakeTable[edge[N, L]](2 * len(edges))
	for _, e := range edges {
		if e.to != 0 {
			t.table[t.slot(e.from, e.by)] = e
		}
	}
}

// PreOrder is a tree in pre-order: a node's descendants directly follow it, older siblings first.
type PreOrder[N, L ~int32] struct {
	Parent []N     // negative for the root
	Label  []L     // distinguishes a node from its siblings
	Below  []int32 // number of a node's descendants
}

// Len returns the number of nodes, including the root.
func (o *PreOrder[N, L]) Len() int { return len(o.Parent) }

// Last returns the last descendant of a node, or the node itself if it has none.
func (o *PreOrder[N, L]) Last(n N) N { return n + N(o.Below[n]) }

// Order returns the tree in pre-order, and the new numbers of its nodes.
func (t *Tree[N, L]) Order() (o PreOrder[N, L], number []N) {
	o, number = t.Number()
	t.Fill(&o, number, nil, 0, t.Len())
	return o, number
}

// Number returns the new numbers of the nodes, and the tree in pre-order, but with only Below
// filled in. Fill fills in the rest.
func (t *Tree[N, L]) Number() (o PreOrder[N, L], number []N) {
	below := chunked.MakeTable[int32](t.Len())
	for n := t.Len() - 1; n > 0; n-- {
		below[t.Parent(N(n))] += below[n] + 1
	}
	o = PreOrder[N, L]{Parent: make([]N, t.Len()), Label: make([]L, t.Len()), Below: make([]int32, t.Len())}
	number = make([]N, t.Len())
	o.Below[0] = below[0]
	free := below // the next child's number, for a node that has its own
	free[0] = 1
	for n := 1; n < t.Len(); n++ {
		parent, count := t.Parent(N(n)), below[n]
		to := free[parent]
		free[parent] += count + 1
		free[n] = to + 1
		number[n], o.Below[to] = N(to), count
	}
	return o, number
}

// Fill fills in Parent and Label for the nodes in [from, until). Ranges may be filled concurrently.
// labels maps the tree's labels to the ones to fill in; nil keeps them.
func (t *Tree[N, L]) Fill(o *PreOrder[N, L], number []N, labels []L, from, until int) {
	for n := from; n < until; n++ {
		of, to := *t.nodes.At(n), number[n]
		if n > 0 {
			of.parent = number[of.parent]
		}
		if labels != nil {
			of.label = labels[of.label]
		}
		o.Parent[to], o.Label[to] = of.parent, of.label
	}
}
