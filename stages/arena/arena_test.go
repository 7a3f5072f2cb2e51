package arena

import (
	"slices"
	"testing"
)

// Slices keep their values whatever is made or appended later.
func TestArena(t *testing.T) {
	var a Arena[int]
	var made [][]int
	for n := range 3 * perPiece / 100 {
		s := a.Make(100)
		if slices.ContainsFunc(s, func(v int) bool { return v != 0 }) {
			t.Fatalf("slice %d is not zero: %v", n, s)
		}
		for i := range s {
			s[i] = n + 1
		}
		_ = append(s, -1)
		made = append(made, s)
	}
	for n, s := range made {
		if len(s) != 100 || slices.ContainsFunc(s, func(v int) bool { return v != n+1 }) {
			t.Fatalf("slice %d has changed: %v", n, s)
		}
	}
	long := a.Make(2 * perPiece)
	if len(long) != 2*perPiece {
		t.Errorf("%d values", len(long))
	}
	if c := a.Copy(nil); c != nil {
		t.Errorf("a copy of nil is %v", c)
	}
	from := []int{1, 2, 3}
	c := a.Copy(from)
	from[0] = 9
	if !slices.Equal(c, []int{1, 2, 3}) {
		t.Errorf("the copy is %v", c)
	}
}
