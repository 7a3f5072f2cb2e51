package tree

import (
	"testing"

	"pgregory.net/rapid"
)

// A tree has each child of a label once, however many there are, and descends to
// each node between entering and leaving its parent.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr, known := New[int32](int32(-1)), map[edge[int32, int32]]int32{}
		for range rapid.IntRange(0, 200).Draw(t, "children") {
			e := edge[int32, int32]{rapid.Int32Range(0, min(3, int32(len(tr.Parent)-1))).Draw(t, "parent"), rapid.Int32Range(0, 40).Draw(t, "label")}
			n, added := tr.Child(e.from, e.to)
			if want, ok := known[e]; ok == added || ok && n != want {
				t.Fatalf("child %v is %d (new: %v), known as %d (%v)", e, n, added, want, ok)
			}
			known[e] = n
			if tr.Parent[n] != e.from || tr.Label[n] != e.to {
				t.Fatalf("child %v is of %d, label %d", e, tr.Parent[n], tr.Label[n])
			}
		}
		open, visited := []int32{0}, map[int32]bool{}
		tr.Descend(func(n int32) {
			if above := open[len(open)-1]; tr.Parent[n] != above || visited[n] {
				t.Fatalf("%d is entered below %d", n, above)
			}
			visited[n] = true
			open = append(open, n)
		}, func(n int32) {
			if open[len(open)-1] != n {
				t.Fatalf("%d is left in %v", n, open)
			}
			open = open[:len(open)-1]
		})
		if len(visited) != len(tr.Parent)-1 || len(open) != 1 {
			t.Fatalf("%d of %d nodes visited", len(visited), len(tr.Parent)-1)
		}
		ordered(t, &tr)
	})
}

// ordered checks the numbers of nodes: those below a node follow it.
func ordered(t *rapid.T, tr *Tree[int32, int32]) {
	number, below := tr.Order()
	for i, n := range InOrder[int32](number) {
		if number[n] != int32(i) {
			t.Fatalf("node %d has number %d, place %d", n, number[n], i)
		}
	}
	for n := range int32(tr.Len()) {
		for m := range int32(tr.Len()) {
			above := m
			for above > 0 && above != n {
				above = tr.Parent[above]
			}
			if within := number[n] <= number[m] && number[m] <= number[n]+below[n]; within != (above == n) {
				t.Fatalf("node %d (%d, %d below) and %d (%d)", n, number[n], below[n], m, number[m])
			}
		}
	}
}
