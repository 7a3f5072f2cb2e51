// Package prefixtree merges lists from their beginnings: what many have in common is kept
// and looked at once.
package prefixtree

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
)

// Tree is the shape of a tree, whose nodes have the type N and their labels the
// type L. Node 0 is the root; parents stand before their children. Nodes are not
// pointers. Most were added right after their parents; the others are in a hash table.
type Tree[N, L ~int32] struct {
	nodes  chunked.List[node[N, L]]
	seed   uint64
	table  []edge[N, L] // their number is a power of 2; those to the root are free places
	hashed int          // edges in the table
}

// node is a node's parent, negative for the root, and its label, which distinguishes it from
// its siblings.
type node[N, L ~int32] struct {
	parent N
	label  L
}

// edge leads from a node to another one, by its label.
type edge[N, L ~int32] struct {
	from N
	by   L
	to   N
}

// firstSlots is how many places the hash table has at first.
const firstSlots = 64

// New returns a tree that is the root.
func New[N, L ~int32](label L) Tree[N, L] {
	t := Tree[N, L]{seed: rand.Uint64(), table: make([]edge[N, L], firstSlots)}
	t.nodes.Add(node[N, L]{-1, label})
	return t
}

// Len is the number of nodes, the root included.
func (t *Tree[N, L]) Len() int { return t.nodes.Len() }

// Parent is a node's parent, negative for the root.
func (t *Tree[N, L]) Parent(n N) N { return t.nodes.At(int(n)).parent }

// Label is a node's label.
func (t *Tree[N, L]) Label(n N) L { return t.nodes.At(int(n)).label }

// Child returns a node's child of a label, and whether it is new.
func (t *Tree[N, L]) Child(parent N, label L) (child N, added bool) {
	child = N(t.Len())
	if next := parent + 1; next < child { // else it has no child, and this one is found without the table
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

// slot returns where the edge of a label from a node is in the table, or may be put.
func (t *Tree[N, L]) slot(from N, by L) int {
	high, low := bits.Mul64((uint64(uint32(from))<<32|uint64(uint32(by)))^t.seed, 0x9e3779b97f4a7c15)
	mask := len(t.table) - 1
	at := int(high^low) & mask
	for e := &t.table[at]; e.to != 0 && (e.from != from || e.by != by); e = &t.table[at] {
		at = (at + 1) & mask
	}
	return at
}

// grow makes a table with twice as many places.
func (t *Tree[N, L]) grow() {
	edges := t.table
	t.table = chunked.MakeTable[edge[N, L]](2 * len(edges))
	for _, e := range edges {
		if e.to != 0 {
			t.table[t.slot(e.from, e.by)] = e
		}
	}
}

// PreOrder is a tree whose nodes are in pre-order: each is followed by those below it,
// older siblings first.
type PreOrder[N, L ~int32] struct {
	Parent []N     // negative for the root
	Label  []L     // distinguishes a node from its siblings
	Below  []int32 // how many are below a node: the next so many
}

// Len is the number of nodes, the root included.
func (o *PreOrder[N, L]) Len() int { return len(o.Parent) }

// Last is the last node below a node, itself if there is none.
func (o *PreOrder[N, L]) Last(n N) N { return n + N(o.Below[n]) }

// Order returns the tree in pre-order, and the numbers that nodes have there.
func (t *Tree[N, L]) Order() (o PreOrder[N, L], number []N) {
	o, number = t.Number()
	t.Fill(&o, number, nil, 0, t.Len())
	return o, number
}

// Number begins with Order: only Below is as it should be. Fill does the rest.
func (t *Tree[N, L]) Number() (o PreOrder[N, L], number []N) {
	below := chunked.MakeTable[int32](t.Len())
	for n := t.Len() - 1; n > 0; n-- {
		below[t.Parent(N(n))] += below[n] + 1
	}
	o = PreOrder[N, L]{Parent: make([]N, t.Len()), Label: make([]L, t.Len()), Below: make([]int32, t.Len())}
	number = make([]N, t.Len())
	o.Below[0] = below[0]
	free := below // by node that has its number: the number of its next child
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

// Fill fills Parent and Label of what Number began, for the nodes of the tree from one to
// before another: those of all are filled in parts, side by side or not. labels are the new
// labels by those in the tree; nil: they stay as they are.
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
