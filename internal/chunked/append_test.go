package chunked

import (
	"slices"
	"testing"
)

// A list has the appended values, and its memory doubles when it is full.
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

// Extend appends a zero value, even if the list's spare memory had another value there.
func TestExtend(t *testing.T) {
	list := []int{1, 2, 3}[:1]
	longer, last := Extend(list)
	if *last = *last + 7; !slices.Equal(longer, []int{1, 7}) {
		t.Error(longer)
	}
	for range 10 {
		longer, last = Extend(longer)
		*last++
	}
	if want := append([]int{1, 7}, slices.Repeat([]int{1}, 10)...); !slices.Equal(longer, want) {
		t.Error(longer)
	}
}
