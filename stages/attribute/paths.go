package attribute

import (
	"slices"

	"stackmill/stages/unwind"
)

// paths are distinct stacks merged from their roots: what stacks have in common
// is looked at once. Node 0 is no frame, and the root of all.
type paths struct {
	parent   []int32 // by node; parents stand before their children
	location []int32 // by node
	leaf     []int32 // by stack: its leaf's node
}

func newPaths(stacks []unwind.Stack) *paths {
	p := &paths{parent: []int32{-1}, location: []int32{-1}, leaf: make([]int32, len(stacks))}
	children := map[uint64]int32{} // by parent and location
	var before []int32             // the nodes of the stack before, root first: much is the same
	for n, s := range stacks {
		node, same := int32(0), true
		for depth, f := range backward(s.Frames) {
			if same = same && depth < len(before) && p.location[before[depth]] == f.Location; same {
				node = before[depth]
				continue
			}
			key := uint64(node)<<32 | uint64(uint32(f.Location))
			child, ok := children[key]
			if !ok {
				child = int32(len(p.parent))
				p.parent, p.location = append(p.parent, node), append(p.location, f.Location)
				children[key] = child
			}
			node = child
			before = append(before[:depth], node)
		}
		before = before[:len(s.Frames)]
		p.leaf[n] = node
	}
	return p
}

// backward iterates over a stack's frames with their depths, root first.
func backward(frames []unwind.Frame) func(yield func(int, unwind.Frame) bool) {
	return func(yield func(int, unwind.Frame) bool) {
		for i, f := range slices.Backward(frames) {
			if !yield(len(frames)-1-i, f) {
				return
			}
		}
	}
}

// branches are nodes of a tree with the sums of the stacks that end there. Node
// 0 is the root; parents stand before their children.
type branches struct {
	metrics int
	parent  []int32
	Own     []Sum // by node and metric: of stacks that end there
	All     []Sum // of those that pass, too
}

func newBranches(metrics int) branches {
	b := branches{metrics: metrics}
	b.add(-1)
	return b
}

func (b *branches) add(parent int32) int32 {
	b.parent = append(b.parent, parent)
	for range b.metrics {
		b.Own = append(b.Own, Sum{})
	}
	return int32(len(b.parent) - 1)
}

func (b *branches) own(n int32) []Sum { return b.Own[int(n)*b.metrics:][:b.metrics] }
func (b *branches) all(n int32) []Sum { return b.All[int(n)*b.metrics:][:b.metrics] }

// sum computes All.
func (b *branches) sum() {
	b.All = slices.Clone(b.Own)
	for n := len(b.parent) - 1; n > 0; n-- {
		addSums(b.all(b.parent[n]), b.all(int32(n)))
	}
}

func addSums(to, sums []Sum) {
	for m, s := range sums {
		to[m].Value += s.Value
		to[m].Samples += s.Samples
	}
}

// descend enters and leaves each node but the root, children between their
// parents' two.
func (b *branches) descend(enter, leave func(n int32)) {
	first, next := make([]int32, len(b.parent)), make([]int32, len(b.parent)) // child and sibling, 0 for none
	for n := len(b.parent) - 1; n > 0; n-- {
		p := b.parent[n]
		first[p], next[n] = int32(n), first[p]
	}
	for n := first[0]; n > 0; {
		enter(n)
		if first[n] > 0 {
			n = first[n]
			continue
		}
		for leave(n); next[n] == 0; leave(n) {
			if n = b.parent[n]; n == 0 {
				return
			}
		}
		n = next[n]
	}
}
