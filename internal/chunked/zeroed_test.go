package chunked

import (
	"slices"
	"testing"
)

// Zeroed returns n zeros whatever the list contained, in its memory if that suffices.
func TestZeros(t *testing.T) {
	list := []int{1, 2, 3, 4}
	for _, n := range []int{3, 0, 4, 5} {
		zeros := Zeroed(list[:1], n)
		if !slices.Equal(zeros, make([]int, n)) {
			t.Errorf("%d: %v", n, zeros)
		}
		if n > 0 && (&zeros[0] == &list[0]) != (n <= len(list)) {
			t.Errorf("%d: the memory is another one, or should be", n)
		}
		copy(list, []int{1, 2, 3, 4})
	}
}
