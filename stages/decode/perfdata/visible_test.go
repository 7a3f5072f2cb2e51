package perfdata

import (
	"math/rand/v2"
	"slices"
	"testing"

	"stackmill/stages/decode"
)

// A mapping is visible if at least one of its addresses is in no later mapping.
func TestVisible(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var live, want []decode.MapEvent
		for i := range 1 + rnd.IntN(20) {
			live = append(live, decode.MapEvent{Time: int64(i), Address: rnd.Uint64N(30), Size: 1 + rnd.Uint64N(10)})
		}
		for i, m := range live {
			for a := m.Address; a < m.Address+m.Size; a++ {
				if !slices.ContainsFunc(live[i+1:], func(o decode.MapEvent) bool { return a-o.Address < o.Size }) {
					want = append(want, m)
					break
				}
			}
		}
		if got := visible(live); !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", live, got, want)
		}
	}
}

// Finding the visible ones of many separate mappings takes little time.
func TestManyVisible(t *testing.T) {
	live := make([]decode.MapEvent, 1<<20)
	for i := range live {
		live[i] = decode.MapEvent{Address: uint64(i) << 16, Size: 1 << 12}
	}
	if got := visible(live); len(got) != len(live) {
		t.Errorf("%d are visible", len(got))
	}
}
