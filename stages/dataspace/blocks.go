package dataspace

import (
	"math"
	"slices"
	"sort"
)

// Blocks are the heap blocks of a process over time, as far as allocations were
// traced. They are added in the order of time.
type Blocks struct {
	Untold int64 // blocks that were too many to be kept

	lives map[uint64][]life // by address, in the order of time
	count int

	starts  []uint64 // the addresses, sorted; nil until they are looked up
	highest []uint64 // the greatest end of a block at starts[:i+1]
}

// life is a block from its allocation to its end.
type life struct {
	size        uint64
	from, until int64
}

// Bounds of what is kept, and of how many neighbours are looked at for a block
// that began before them.
const (
	maxBlocks     = 1 << 22
	maxNeighbours = 256
)

// Allocate adds a block of a size in bytes. It ends the block at its address.
func (b *Blocks) Allocate(address, size uint64, time int64) {
	b.Free(address, time)
	if size == 0 || address+size < address {
		return
	}
	if b.count == maxBlocks {
		b.Untold++
		return
	}
	if b.lives == nil {
		b.lives = map[uint64][]life{}
	}
	b.count++
	b.lives[address] = append(b.lives[address], life{size, time, math.MaxInt64})
}

// Free ends the block at an address.
func (b *Blocks) Free(address uint64, time int64) {
	if lives := b.lives[address]; len(lives) > 0 {
		last := &lives[len(lives)-1]
		last.until = min(last.until, time)
	}
}

// at returns the block that an address was in at a time.
func (b *Blocks) at(address uint64, time int64) (start, size uint64, ok bool) {
	if b == nil || len(b.lives) == 0 {
		return 0, 0, false
	}
	if b.starts == nil {
		b.sort()
	}
	i := sort.Search(len(b.starts), func(i int) bool { return b.starts[i] > address }) - 1
	for n := 0; i >= 0 && n < maxNeighbours && b.highest[i] > address; i, n = i-1, n+1 {
		lives := b.lives[b.starts[i]]
		k := sort.Search(len(lives), func(k int) bool { return lives[k].from > time }) - 1
		if k >= 0 && time < lives[k].until && address-b.starts[i] < lives[k].size {
			return b.starts[i], lives[k].size, true
		}
	}
	return 0, 0, false
}

func (b *Blocks) sort() {
	for start := range b.lives {
		b.starts = append(b.starts, start)
	}
	slices.Sort(b.starts)
	end := uint64(0)
	for _, start := range b.starts {
		for _, l := range b.lives[start] {
			end = max(end, start+l.size)
		}
		b.highest = append(b.highest, end)
	}
}
