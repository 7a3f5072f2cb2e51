package dataspace

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Blocks holds the heap blocks of a process over time, from traced allocations. Add them in order
// of time.
type Blocks struct {
	Dropped int64 // number of blocks beyond maxBlocks

	all  []heapBlock      // in order of time; from the first lookup on, by address, then time
	live map[uint64]int32 // by address: the index of the block that is not freed yet

	// Set by the first lookup.
	sorted  bool
	first   []int32  // by distinct address: the index of its first block
	highest []uint64 // the largest end of a block at first[:i+1]
}

// heapBlock is a heap block: its addresses, and the time from its allocation until it was freed.
type heapBlock struct {
	start, size uint64
	from, until int64
}

// Bounds of the number of blocks, and of the distinct start addresses that a lookup checks.
const (
	maxBlocks    = 1 << 22
	maxNeighbors = 256
)

// Allocate adds a block of size bytes. It frees the block that was at the address, if any.
func (b *Blocks) Allocate(address, size uint64, time int64) {
	b.Free(address, time)
	if size == 0 || address+size < address {
		return
	}
	if len(b.all) == maxBlocks {
		b.Dropped++
		return
	}
	if b.live == nil {
		b.live = map[uint64]int32{}
	}
	b.live[address] = int32(len(b.all))
	b.all = append(b.all, heapBlock{address, size, time, math.MaxInt64})
}

// Free ends the life of the block at an address.
func (b *Blocks) Free(address uint64, time int64) {
	if n, ok := b.live[address]; ok {
		b.all[n].until = time
		delete(b.live, address)
	}
}

// at returns the block that contains an address at a time.
func (b *Blocks) at(address uint64, time int64) (start, size uint64, ok bool) {
	if b == nil || len(b.all) == 0 {
		return 0, 0, false
	}
	if !b.sorted {
		b.sort()
	}
	i := sort.Search(len(b.first), func(i int) bool { return b.all[b.first[i]].start > address }) - 1
	for n := 0; i >= 0 && n < maxNeighbors && b.highest[i] > address; i, n = i-1, n+1 {
		lives := b.blocksAt(i)
		k := sort.Search(len(lives), func(k int) bool { return lives[k].from > time }) - 1
		if k >= 0 && time < lives[k].until && address-lives[k].start < lives[k].size {
			return lives[k].start, lives[k].size, true
		}
	}
	return 0, 0, false
}

// blocksAt returns the blocks at the i-th distinct start address, in order of time.
func (b *Blocks) blocksAt(i int) []heapBlock {
	if i+1 == len(b.first) {
		return b.all[b.first[i]:]
	}
	return b.all[b.first[i]:b.first[i+1]]
}

func (b *Blocks) sort() {
	b.sorted, b.live = true, nil
	slices.SortStableFunc(b.all, func(x, y heapBlock) int { return cmp.Compare(x.start, y.start) })
	end := uint64(0)
	for i, x := range b.all {
		if end = max(end, x.start+x.size); i == 0 || x.start != b.all[i-1].start {
			b.first, b.highest = append(b.first, int32(i)), append(b.highest, end)
		} else {
			b.highest[len(b.highest)-1] = end
		}
	}
}
