package decode

import (
	"slices"
	"testing"
)

// The names of counters become distinct; the first counter of a name keeps it.
func TestDistinctNames(t *testing.T) {
	for _, c := range [][2][]string{
		{{"a", "b"}, {"a", "b"}},
		{{"a", "a", "a_2"}, {"a", "a_3", "a_2"}},
		{{"a_2", "a", "a", "a"}, {"a_2", "a", "a_3", "a_4"}},
		{{"a", "a", "a_2", "a_2"}, {"a", "a_3", "a_2", "a_2_2"}},
		{nil, {}},
	} {
		if got := DistinctNames(c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("%q: got %q, want %q", c[0], got, c[1])
		}
	}
}
