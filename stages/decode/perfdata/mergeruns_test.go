package perfdata

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Runs of all lengths and overlaps are merged into one.
func TestMergeRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for length := range 300 {
		longest, spread := 1+random.IntN(20), 1+random.Uint64N(40)
		var list []sampleRef
		for n := 0; n < length; {
			at := uint64(n) / 2
			for range min(1+random.IntN(longest), length-n) {
				list = append(list, sampleRef{at, recordOffset(random.Uint64N(3)<<segmentShift) + recordOffset(n)})
				at += random.Uint64N(spread)
				n++
			}
		}
		want := slices.Clone(list)
		slices.SortFunc(want, func(a, b sampleRef) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		if mergeRuns(list); !slices.Equal(list, want) {
			t.Fatalf("%d moments: %v", length, list)
		}
	}
}
