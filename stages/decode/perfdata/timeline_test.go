package perfdata

import (
	"math/rand/v2"
	"slices"
	"testing"

	"stackmill/stages/decode"
)

// A forked process inherits the mappings that are still to be seen, not all that
// its parent ever had.
func TestVisibleMappings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var live []decode.MapEvent
		owner := map[uint64]int64{}
		for n := range r.Int64N(40) {
			m := decode.MapEvent{FileOffset: uint64(n), Address: r.Uint64N(30), Size: 1 + r.Uint64N(12)}
			for a := range m.Size {
				owner[m.Address+a] = n
			}
			live = append(live, m)
		}
		want := map[int64]bool{}
		for _, n := range owner {
			want[n] = true
		}
		got := visible(live)
		if !slices.IsSortedFunc(got, func(a, b decode.MapEvent) int { return int(a.FileOffset) - int(b.FileOffset) }) {
			t.Fatal("not in their order")
		}
		for _, m := range got {
			delete(want, int64(m.FileOffset))
		}
		seen := map[uint64]bool{}
		hidden := 0
		for _, m := range slices.Backward(got) {
			news := false
			for a := range m.Size {
				news = news || !seen[m.Address+a]
				seen[m.Address+a] = true
			}
			if !news {
				hidden++
			}
		}
		if len(want) > 0 || hidden > 0 {
			t.Fatalf("%d that are seen are missing, %d that are hidden are not: %v", len(want), hidden, live)
		}
	}
}
