package attribute

// tree is the shape of a tree, whose nodes have the type N and their labels the
// type L. Node 0 is the root; parents stand before their children.
type tree[N, L ~int32] struct {
	parent      []N              // by node
	first, next []N              // by node: its newest child and the next older sibling, 0 for none
	label       []L              // by node: distinguishes it from its siblings
	older       map[edge[N, L]]N // children but the newest few
}

// edge leads to a node from the one above it, by its label.
type edge[N, L ~int32] struct {
	from N
	to   L
}

// fewChildren is how many of a node's children are looked through one by one.
const fewChildren = 8

// newTree returns a tree that is the root.
func newTree[N, L ~int32](label L) tree[N, L] {
	return tree[N, L]{parent: []N{-1}, first: []N{0}, next: []N{0}, label: []L{label}, older: map[edge[N, L]]N{}}
}

// child returns a node's child of a label, and whether it is new. The newest few
// are looked through: most nodes have no more, and what comes next is mostly what
// came last.
func (t *tree[N, L]) child(parent N, label L) (child N, added bool) {
	seen, last := 0, N(0)
	for n := t.first[parent]; n > 0 && seen < fewChildren; n = t.next[n] {
		if t.label[n] == label {
			return n, false
		}
		seen, last = seen+1, n
	}
	if seen == fewChildren {
		if n, ok := t.older[edge[N, L]{parent, label}]; ok {
			return n, false
		}
		t.older[edge[N, L]{parent, t.label[last]}] = last
	}
	child = N(len(t.parent))
	t.parent, t.label = append(t.parent, parent), append(t.label, label)
	t.first, t.next = append(t.first, 0), append(t.next, t.first[parent])
	t.first[parent] = child
	return child, true
}

// descend enters and leaves each node but the root, children between their
// parents' two.
func (t *tree[N, L]) descend(enter, leave func(n N)) {
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

// total adds each node's sums, width of them, to those of the nodes above.
func (t *tree[N, L]) total(sums []Sum, width int) {
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
