package samples

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
)

// blockTable has the blocks that live, by their addresses, of which 0 is none. The
// addresses come from a recording: a factor of chance keeps those that were chosen to
// have the same place from taking forever.
type blockTable struct {
	blocks []block // a hash table: a block is at its address's place or soon after
	n      int
	factor uint64
	shift  int    // from a product to a place
	sum    uint64 // of what fetch has read: it would not read what nobody asks for
}

// block is a block's address and size, and the event that allocated it.
type block struct {
	address, size uint64
	event         int
}

// firstBlocks is how many places the table has at first; it is a power of 2.
const firstBlocks = 1 << 9

func newBlockTable() *blockTable {
	t := &blockTable{factor: rand.Uint64() | 1}
	t.resize(firstBlocks)
	return t
}

// resize makes a table of so many places, with the same blocks.
func (t *blockTable) resize(places int) {
	old := t.blocks
	t.blocks, t.shift = chunked.Places[block](places), 64-bits.TrailingZeros(uint(places))
	for i := range old {
		if old[i].address != 0 {
			t.blocks[t.find(old[i].address)] = old[i]
		}
	}
}

func (t *blockTable) place(address uint64) int { return int(address * t.factor >> t.shift) }

// fetch brings the blocks of some addresses into the processor's cache, all at once: one
// after the other, each would be waited for.
func (t *blockTable) fetch(addresses []int64, some []int32) {
	for _, i := range some {
		t.sum += t.blocks[t.place(uint64(addresses[i]))].address
	}
}

// find returns where the block of an address is, or belongs.
func (t *blockTable) find(address uint64) int {
	mask := len(t.blocks) - 1
	for i := t.place(address); ; i = (i + 1) & mask {
		if a := t.blocks[i].address; a == address || a == 0 {
			return i
		}
	}
}

// put adds a block and returns the size of the one that was at its address.
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

// take removes the block of an address and returns its size, 0 if there is none. Blocks
// that follow without a gap move up, so that they are still found.
func (t *blockTable) take(address uint64) (size uint64) {
	mask := len(t.blocks) - 1
	hole := t.find(address)
	if t.blocks[hole].address == 0 {
		return 0
	}
	size = t.blocks[hole].size
	t.n--
	for i := (hole + 1) & mask; t.blocks[i].address != 0; i = (i + 1) & mask {
		if from := t.place(t.blocks[i].address); (i-from)&mask >= (i-hole)&mask {
			t.blocks[hole], hole = t.blocks[i], i
		}
	}
	t.blocks[hole] = block{}
	return size
}
