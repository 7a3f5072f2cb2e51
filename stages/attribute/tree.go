package attribute

// tree is the shape of a tree. Node 0 is the root; parents stand before their
// children.
type tree struct {
	parent      []int32 // by node
	first, next []int32 // by node: a child and a sibling, 0 for none
}

func newTree() tree {
	t := tree{}
	t.add(-1)
	return t
}

func (t *tree) add(parent int32) int32 {
	n := int32(len(t.parent))
	t.parent, t.first, t.next = append(t.parent, parent), append(t.first, 0), append(t.next, 0)
	if parent >= 0 {
		t.first[parent], t.next[n] = n, t.first[parent]
	}
	return n
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
