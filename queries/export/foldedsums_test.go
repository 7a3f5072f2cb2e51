package export

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// Sums are the same whether they fit in memory or not. They are sorted by the bytes of stacks.
func TestFoldedSums(t *testing.T) {
	for _, most := range []int{1 << 20, 500} {
		s := newFoldedSums(most)
		defer s.close()
		want := map[string]int64{}
		for i := range 1000 {
			stack := fmt.Sprintf("main;f%d g;%s", i%37, strings.Repeat("x", i%5))
			want[stack] += int64(i % 7)
			if err := s.add([]byte(stack), int64(i%7)); err != nil {
				t.Fatal(err)
			}
		}
		maps.DeleteFunc(want, func(_ string, v int64) bool { return v == 0 })
		var stacks []string
		err := s.each(func(stack string, v int64) error {
			if stacks = append(stacks, stack); want[stack] != v {
				t.Errorf("%s: %d, want %d", stack, v, want[stack])
			}
			return nil
		})
		if err != nil || !slices.Equal(stacks, slices.Sorted(maps.Keys(want))) || (len(s.runs) > 0) != (most == 500) {
			t.Errorf("%d bytes: %d stacks, want %d; %d files, %v", most, len(stacks), len(want), len(s.runs), err)
		}
		if err := s.add([]byte("main"), math.MaxInt64); err != nil {
			t.Error(err)
		}
		if err := s.add([]byte("main"), 1); err == nil {
			t.Error("more than 64 bits")
		}
	}
}
