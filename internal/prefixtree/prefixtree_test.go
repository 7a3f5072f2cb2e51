package prefixtree

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A node has one child per label, however many labels there are.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type edge struct{ from, to int32 }
		tr, known := New[int32](int32(0)), map[edge]int32{}
		for range rapid.IntRange(0, 200).Draw(t, "children") {
			e := edge{rapid.Int32Range(0, min(3, int32(tr.Len()-1))).Draw(t, "parent"), rapid.Int32Range(0, 40).Draw(t, "label")}
			n, added := tr.Child(e.from, e.to)
			if want, ok := known[e]; ok == added || ok && n != want {
				t.Fatalf("child %v is %d (new: %v), known as %d (%v)", e, n, added, want, ok)
			}
			known[e] = n
			if tr.Parent(n) != e.from || tr.Label(n) != e.to {
				t.Fatalf("child %v is of %d, label %d", e, tr.Parent(n), tr.Label(n))
			}
		}
		ordered(t, &tr)
	})
}

// ordered checks the pre-order of a tree: it has the same nodes, descendants directly follow a node,
// and older siblings come first.
func ordered(t *rapid.T, tr *Tree[int32, int32]) {
	o, number := tr.Order()
	parts, same := tr.Number()
	half := rapid.IntRange(0, tr.Len()).Draw(t, "half")
	labels := make([]int32, 41)
	for l := range labels {
		labels[l] = int32(2 * l)
	}
	tr.Fill(&parts, number, labels, half, tr.Len())
	tr.Fill(&parts, number, labels, 0, half)
	if !slices.Equal(number, same) || !slices.Equal(o.Parent, parts.Parent) || !slices.Equal(o.Below, parts.Below) {
		t.Fatalf("%v in two parts is %v", o, parts)
	}
	for n, label := range o.Label[1:] {
		if parts.Label[n+1] != 2*label {
			t.Fatalf("label %d became %d", label, parts.Label[n+1])
		}
	}
	seen := make([]bool, o.Len())
	for n := range int32(tr.Len()) {
		to := number[n]
		if seen[to] || o.Label[to] != tr.Label(n) || n > 0 && o.Parent[to] != number[tr.Parent(n)] {
			t.Fatalf("node %d is %d, label %d, below %d", n, to, o.Label[to], o.Parent[to])
		}
		seen[to] = true
		for m := range int32(tr.Len()) {
			above := m
			for above > 0 && above != n {
				above = tr.Parent(above)
			}
			if within := to <= number[m] && number[m] <= o.Last(to); within != (above == n) {
				t.Fatalf("node %d (%d, %d below) and %d (%d)", n, to, o.Below[to], m, number[m])
			}
			if m > n && tr.Parent(m) == tr.Parent(n) && number[m] < to {
				t.Fatalf("%d stands before its older sibling %d", m, n)
			}
		}
	}
	if o.Parent[0] >= 0 {
		t.Fatalf("the root is below %d", o.Parent[0])
	}
}
