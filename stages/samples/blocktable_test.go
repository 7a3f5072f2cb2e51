package samples

import (
	"testing"

	"pgregory.net/rapid"
)

// A block table behaves like a map, for any factor.
func TestBlockTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, want := newBlockTable(), map[uint64]uint64{}
		table.factor = rapid.Uint64().Draw(t, "factor") | 1
		table.resize(rapid.SampledFrom([]int{8, firstBlocks}).Draw(t, "places"))
		addresses := rapid.SliceOfN(rapid.Uint64Range(1, 1<<47), 1, 40).Draw(t, "addresses")
		for n := range rapid.IntRange(0, 300).Draw(t, "calls") {
			address := rapid.SampledFrom(addresses).Draw(t, "address")
			got := uint64(0)
			if size := uint64(n + 1); rapid.Bool().Draw(t, "put") {
				if got = table.put(block{address, size, n}); got != want[address] {
					t.Fatalf("a block of %d at %#x, want %d", got, address, want[address])
				}
				want[address] = size
				continue
			}
			if got = table.take(address); got != want[address] {
				t.Fatalf("took %d at %#x, want %d", got, address, want[address])
			}
			delete(want, address)
		}
		if table.n != len(want) || table.take(0) != 0 {
			t.Errorf("%d blocks, want %d", table.n, len(want))
		}
		for address, size := range want {
			if got := table.take(address); got != size {
				t.Errorf("%d at %#x, want %d", got, address, size)
			}
		}
	})
}
