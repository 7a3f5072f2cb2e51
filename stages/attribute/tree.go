package attribute

// tree is the shape of a tree. Node 0 is the root; parents stand before their
// children.
type tree struct {
	parent      []int32        // by node
	first, next []int32        // by node: its newest child and the next older sibling, 0 for none
	label       []int32        // by node: tells it from its siblings
	older       map[edge]int32 // children but the newest few
}

// edge leads to a node from the one above it, by its label.
type edge struct{ from, to int32 }

// fewChildren is how many of a node's children are looked through one by one.
const fewChildren = 8

// newTree returns a tree that is the root.
func newTree(label int32) tree {
	return tree{parent: []int32{-1}, first: []int32{0}, next: []int32{0}, label: []int32{label}, older: map[edge]int32{}}
}

// child returns a node's child of a label, and whether it is new. The newest few
// are looked through: most nodes have no more, and what comes next is mostly what
// came last.
func (t *tree) child(parent, label int32) (child int32, added bool) {
	seen, last := 0, int32(0)
	for n := t.first[parent]; n > 0 && seen < fewChildren; n = t.next[n] {
		if t.label[n] == label {
			return n, false
		}
		seen, last = seen+1, n
	}
	if seen == fewChildren {
		if n, ok := t.older[edge{parent, label}]; ok {
			return n, false
		}
		t.older[edge{parent, t.label[last]}] = last
	}
	child = int32(len(t.parent))
	t.parent, t.label = append(t.parent, parent), append(t.label, label)
	t.first, t.next = append(t.first, 0), append(t.next, t.first[parent])
	t.first[parent] = child
	return child, true
}

// descend enters and leaves each node but the root, children between their
// parents' two.
func (t *tree) descend(enter, leave func(n int32)) {
	for n := t.first[0]; n > 0; {
		enter(n)
		if t.first[n] > 0 {
			n = t.first[n]
			continue
		}
		for leave(n); t.next[n] == 0; leave(n) {
			if n = t.parent[n]; n == 0 {
				return
			}
		}
		n = t.next[n]
	}
}

// total adds the sums of each node, of which there are width, to those of the
// nodes above.
func (t *tree) total(sums []Sum, width int) {
	for n := len(t.parent) - 1; n > 0; n-- {
		add(sums[int(t.parent[n])*width:], sums[n*width:][:width])
	}
}

func add(to, sums []Sum) {
	for i, s := range sums {
		to[i].Value += s.Value
		to[i].Samples += s.Samples
	}
}
