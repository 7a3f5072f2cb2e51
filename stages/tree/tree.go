// Package tree merges lists from their beginnings: what many have in common is kept
// and looked at once.
package tree

// Tree is the shape of a tree, whose nodes have the type N and their labels the
// type L. Node 0 is the root; parents stand before their children. Nothing in it is a
// pointer: it is columns of numbers by node.
type Tree[N, L ~int32] struct {
	Parent      []N              // negative for the root
	Label       []L              // distinguishes a node from its siblings
	first, next []N              // a node's newest child and its next older sibling, 0 for none
	older       map[edge[N, L]]N // children but the newest few
}

// edge leads to a node from the one above it, by its label.
type edge[N, L ~int32] struct {
	from N
	to   L
}

// fewChildren is how many of a node's children are looked through one by one.
const fewChildren = 8

// New returns a tree that is the root.
func New[N, L ~int32](label L) Tree[N, L] {
	return Tree[N, L]{Parent: []N{-1}, first: []N{0}, next: []N{0}, Label: []L{label}, older: map[edge[N, L]]N{}}
}

// Len is the number of nodes, the root included.
func (t *Tree[N, L]) Len() int { return len(t.Parent) }

// Child returns a node's child of a label, and whether it is new. The newest few
// are looked through: most nodes have no more, and what comes next is mostly what
// came last.
func (t *Tree[N, L]) Child(parent N, label L) (child N, added bool) {
	seen, last := 0, N(0)
	for n := t.first[parent]; n > 0 && seen < fewChildren; n = t.next[n] {
		if t.Label[n] == label {
			return n, false
		}
		seen, last = seen+1, n
	}
	if seen == fewChildren {
		if n, ok := t.older[edge[N, L]{parent, label}]; ok {
			return n, false
		}
		t.older[edge[N, L]{parent, t.Label[last]}] = last
	}
	child = N(len(t.Parent))
	t.Parent, t.Label = append(t.Parent, parent), append(t.Label, label)
	t.first, t.next = append(t.first, 0), append(t.next, t.first[parent])
	t.first[parent] = child
	return child, true
}

// Ordered is a tree whose nodes are in pre-order: each is followed by those below it,
// older siblings first.
type Ordered[N, L ~int32] struct {
	Parent []N     // negative for the root
	Label  []L     // distinguishes a node from its siblings
	Below  []int32 // how many are below a node: the next so many
}

// Len is the number of nodes, the root included.
func (o *Ordered[N, L]) Len() int { return len(o.Parent) }

// Last is the last node below a node, itself if there is none.
func (o *Ordered[N, L]) Last(n N) N { return n + N(o.Below[n]) }

// Order returns the tree in pre-order, and the numbers that nodes have there.
func (t *Tree[N, L]) Order() (o Ordered[N, L], number []N) {
	below := make([]int32, t.Len())
	for n := t.Len() - 1; n > 0; n-- {
		below[t.Parent[n]] += below[n] + 1
	}
	o = Ordered[N, L]{Parent: make([]N, t.Len()), Label: make([]L, t.Len()), Below: make([]int32, t.Len())}
	o.Parent[0], o.Label[0], o.Below[0] = -1, t.Label[0], below[0]
	number = make([]N, t.Len())
	free := below // by node that has its number: the number of its next child
	free[0] = 1
	for n := 1; n < t.Len(); n++ {
		parent, count := t.Parent[n], below[n]
		to := N(free[parent])
		free[parent] += count + 1
		free[n] = int32(to) + 1
		number[n] = to
		o.Parent[to], o.Label[to], o.Below[to] = number[parent], t.Label[n], count
	}
	return o, number
}
