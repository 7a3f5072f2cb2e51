package arena

import (
	"slices"
	"testing"
)

// A list has what was appended, and its memory doubles.
func TestAppend(t *testing.T) {
	var list, want []int
	grown := 0
	for i := range 1000 {
		before := cap(list)
		if list, want = Append(list, i), append(want, i); cap(list) != before {
			grown++
		}
	}
	if !slices.Equal(list, want) || grown != 9 {
		t.Errorf("%d values, grown %d times", len(list), grown)
	}
}
