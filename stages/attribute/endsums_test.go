package attribute

import (
	"slices"
	"testing"

	"stackmill/schema"
	"stackmill/stages/stacktree"
)

// Stacks that end at the same node are summed; nodes without samples are left out.
func TestEndSums(t *testing.T) {
	for _, metrics := range []int{2, fewMetrics + 1} {
		stacks, sums := NewStacks(), NewSums(make([]schema.Metric, metrics))
		for i, s := range []string{"ab", "abc", "a", "ab", "", "ab"} {
			addStack(stacks, everyMode(locationsOf(s)...))
			if s != "a" {
				sums.At(RecordedStackNo(i), 1).Add(1 << i)
			}
		}
		stacks.Renumber(stacks.OrderNodes(), stacks.OrderFrames(asTheyAre(letters())))
		e := newEndSums(stacks, sums)
		ab, abc := stacks.Recorded[0].Node, stacks.Recorded[1].Node
		if want := []stacktree.NodeNo{stacktree.Root, ab, abc}; !slices.Equal(e.nodes, want) {
			t.Fatalf("%d metrics: ends at %v, want %v", metrics, e.nodes, want)
		}
		for i, want := range []int64{1 << 4, 1<<0 | 1<<3 | 1<<5, 1 << 1} {
			g := newGrid(1, e.layout(2))
			e.addTo(g, 0, i, []int{1, 0})
			if row := g.row(0); !slices.Equal(row, []int64{want, 0}) {
				t.Errorf("%d metrics: end %d has %v, want %d", metrics, i, row, want)
			}
		}
	}
}
