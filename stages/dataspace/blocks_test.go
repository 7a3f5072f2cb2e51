package dataspace

import "testing"

// TestBlocks checks that a block owns its addresses from its allocation to its end.
func TestBlocks(t *testing.T) {
	var b Blocks
	b.Allocate(0x1000, 0x100, 10)
	b.Allocate(0x1040, 8, 20) // inside of the previous block, whose end was not recorded
	b.Free(0x1000, 30)
	b.Allocate(0x1000, 0x20, 40)
	b.Allocate(0x2000, 0, 40)
	b.Free(0x3000, 40)
	for _, x := range []struct {
		address uint64
		time    int64
		start   uint64
		size    uint64
	}{
		{0x1000, 9, 0, 0}, {0x1000, 10, 0x1000, 0x100}, {0x10ff, 29, 0x1000, 0x100}, {0x1100, 29, 0, 0},
		{0x1040, 15, 0x1000, 0x100}, {0x1040, 25, 0x1040, 8}, {0x1048, 25, 0x1000, 0x100},
		{0x1010, 30, 0, 0}, {0x1010, 40, 0x1000, 0x20}, {0x1020, 40, 0, 0}, {0x2000, 50, 0, 0},
	} {
		start, size, ok := b.at(x.address, x.time)
		if ok != (x.size > 0) || start != x.start || size != x.size {
			t.Errorf("%#x at %d: block %#x of %#x bytes, %v, want %#x of %#x", x.address, x.time, start, size, ok, x.start, x.size)
		}
	}
	var none *Blocks
	if _, _, ok := none.at(1, 1); ok {
		t.Error("a block where allocations were not traced")
	}
}

// Blocks that cannot be kept are counted.
func TestTooManyBlocks(t *testing.T) {
	b := &Blocks{all: make([]heapBlock, maxBlocks-1)}
	for i := range uint64(3) {
		b.Allocate(0x1000+0x100*i, 0x100, 1)
	}
	if _, _, ok := b.at(0x1010, 2); !ok || b.Dropped != 2 {
		t.Errorf("the last that is kept is found: %v; %d are not told", ok, b.Dropped)
	}
	b.Allocate(0x1000, 0, 3)
	if b.Dropped != 2 {
		t.Error("a block of no bytes counts")
	}
}
