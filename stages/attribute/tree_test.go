package attribute

import (
	"testing"

	"pgregory.net/rapid"
)

// A tree has each child of a label once, however many there are, and descends to
// each node between entering and leaving its parent.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr, known := newTree[int32](int32(-1)), map[edge[int32, int32]]int32{}
		for range rapid.IntRange(0, 200).Draw(t, "children") {
			e := edge[int32, int32]{rapid.Int32Range(0, min(3, int32(len(tr.parent)-1))).Draw(t, "parent"), rapid.Int32Range(0, 40).Draw(t, "label")}
			n, added := tr.child(e.from, e.to)
			if want, ok := known[e]; ok == added || ok && n != want {
				t.Fatalf("child %v is %d (new: %v), known as %d (%v)", e, n, added, want, ok)
			}
			known[e] = n
			if tr.parent[n] != e.from || tr.label[n] != e.to {
				t.Fatalf("child %v is of %d, label %d", e, tr.parent[n], tr.label[n])
			}
		}
		open, visited := []int32{0}, map[int32]bool{}
		tr.descend(func(n int32) {
			if above := open[len(open)-1]; tr.parent[n] != above || visited[n] {
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
		if len(visited) != len(tr.parent)-1 || len(open) != 1 {
			t.Fatalf("%d of %d nodes visited", len(visited), len(tr.parent)-1)
		}
	})
}
