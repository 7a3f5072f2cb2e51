package samples

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
)

// blockTable is a hash table of live blocks by address, which is not 0. The hash has a random
// factor, so that no recording can be made with addresses that all collide.
type blockTable struct {
	blocks []block // linear probing; a free slot has address 0
	n      int
	factor uint64
	shift  int    // from the hash to a slot
	sink   uint64 // never read: it keeps the compiler from removing the loads in prefetch
}

// block is a heap block, with the event that allocated it.
type block struct {
	address, size uint64
	event         int
}

const (
	firstBlocks    = 1 << 9 // the initial number of slots, a power of 2
	prefetchEvents = 32     // the number of events whose blocks are prefetched at once
)

func newBlockTable() *blockTable {
	t := &blockTable{factor: rand.Uint64() | 1}
	t.resize(firstBlocks)
	return t
}

// resize moves the blocks to a table with this many slots.
func (t *blockTable) resize(slots int) {
	old := t.blocks
	t.blocks, t.shift = chunked.MakeTable[block](slots), 64-bits.TrailingZeros(uint(slots))
	for i := range old {
		if old[i].address != 0 {
			t.blocks[t.find(old[i].address)] = old[i]
		}
	}
}

func (t *blockTable) slot(address uint64) int { return int(address * t.factor >> t.shift) }

// prefetch loads the slots of some addresses into the processor's cache, so that the cache
// misses overlap.
func (t *blockTable) prefetch(addresses []int64) {
	for _, a := range addresses {
		t.sink += t.blocks[t.slot(uint64(a))].address
	}
}

// find returns the slot of an address: its block's, or the free one where it belongs.
func (t *blockTable) find(address uint64) int {
	mask := len(t.blocks) - 1
	for i := t.slot(address); ; i = (i + 1) & mask {
		if a := t.blocks[i].address; a == address || a == 0 {
			return i
		}
	}
}

// put adds a block and returns the size of the block that it replaces, 0 for none.
func (t *blockTable) put(b block) (before uint64) {
	at := &t.blocks[t.find(b.address)]
	before = at.size
	if at.address == 0 {
		t.n++
	}
	if *at = b; 3*t.n > 2*len(t.blocks) {
		t.resize(2 * len(t.blocks))
	}
	return before
}

// take removes the block of an address and returns its size, 0 for none. It moves up the blocks
// that follow without a gap, so that find still reaches them.
func (t *blockTable) take(address uint64) (size uint64) {
	mask := len(t.blocks) - 1
	hole := t.find(address)
	if t.blocks[hole].address == 0 {
		return 0
	}
	size = t.blocks[hole].size
	t.n--
	for i := (hole + 1) & mask; t.blocks[i].address != 0; i = (i + 1) & mask {
		if from := t.slot(t.blocks[i].address); (i-from)&mask >= (i-hole)&mask {
			t.blocks[hole], hole = t.blocks[i], i
		}
	}
	t.blocks[hole] = block{}
	return size
}
