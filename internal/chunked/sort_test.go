package chunked

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// Sort agrees with a stable comparison sort, for keys that use few bits and all bits.
func TestSort(t *testing.T) {
	for _, mask := range []uint64{0, 3, 0xffff, 0xff00000000000ff0, 1 << 63, ^uint64(0)} {
		for _, n := range []int{0, 1, 2, 5000} {
			list := make([]KeyedIndex, n)
			for i := range list {
				list[i] = KeyedIndex{rand.Uint64() & mask, int32(i)}
			}
			want := slices.Clone(list)
			slices.SortStableFunc(want, func(a, b KeyedIndex) int { return cmp.Compare(a.Key, b.Key) })
			if got := Sort(list); !slices.Equal(got, want) {
				t.Errorf("%d keys of %#x: not in order", n, mask)
			}
		}
	}
}
