package samples

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"

	"stackmill/internal/chunked"
	"stackmill/internal/spill"
)

// Leaks holds, for each heap event of a process in order of time, how many bytes of its allocation
// leaked, and how many bytes it freed (gprofng-experiment 9.1). Only live blocks are in memory.
//
// It differs from gprofng in two cases. An allocation at the address of a live block ends that
// block: an unrecorded call must have freed it (collectors record no old address for realloc). And
// a realloc that fails leaves the old block alone.
type Leaks struct {
	// BlindReallocs is the number of reallocs without the address of the old block.
	BlindReallocs int64

	events int // number of events added
	live   *blockTable
	freed  *spill.Stream
	ranges []mappedRange // sorted, not overlapping

	// Set by finish.
	leaks []leak // the leaks in the order of events, from event next on
	next  int    // the event with which Next continues
}

// leak says how many of the bytes that an event allocated were never freed.
type leak struct {
	event int
	bytes int64
}

type mappedRange struct {
	start, end uint64
	event      int
}

func newLeaks(space *spill.Space) *Leaks {
	return &Leaks{freed: spill.NewStream(space), live: newBlockTable()}
}

// addCalls applies the allocator calls in a batch, and adds to e.freed the bytes that each call
// freed.
func (l *Leaks) addCalls(e *heapBatch) {
	for i, op := range e.ops {
		if i%prefetchEvents == 0 {
			l.live.prefetch(e.addresses[i:min(i+prefetchEvents, len(e.ops))])
		}
		b := block{uint64(e.addresses[i]), uint64(e.sizes[i]), l.events + i}
		freed := uint64(0)
		if op == opFree {
			freed = l.live.take(b.address)
		} else if op == opRealloc && (b.address != 0 || b.size == 0) {
			freed = l.live.take(uint64(e.olds[i]))
		}
		if (op == opMalloc || op == opRealloc) && b.address != 0 {
			freed += l.live.put(b)
		}
		e.freed[i] += int64(freed)
	}
}

// add adds a batch of heap events.
func (l *Leaks) add(b *heapBatch) error {
	l.addCalls(b)
	l.addMappings(b)
	l.events += len(b.ops)
	return l.freed.Append(b.freed)
}

// finish lists the memory that was not freed as leaks, and drops the tables of live memory.
func (l *Leaks) finish() {
	l.leaks = make([]leak, 0, l.live.n+len(l.ranges))
	for _, b := range l.live.blocks {
		if b.address != 0 {
			l.leaks = append(l.leaks, leak{b.event, int64(b.size)})
		}
	}
	for _, m := range l.ranges {
		l.leaks = append(l.leaks, leak{m.event, int64(m.end - m.start)})
	}
	l.live, l.ranges = nil, nil
	l.leaks = chunked.SortBy(l.leaks, func(x *leak) uint64 { return uint64(x.event) })
}

// Next returns, for each of the next n events, the bytes leaked and the bytes freed. Both are 0 for
// events that ReadHeap did not see, because the file grew afterwards. An error is a host error.
func (l *Leaks) Next(n int) (leaked, freed []int64, err error) {
	leaked, freed = make([]int64, n), make([]int64, n)
	for ; len(l.leaks) > 0 && l.leaks[0].event < l.next+n; l.leaks = l.leaks[1:] {
		leaked[l.leaks[0].event-l.next] += l.leaks[0].bytes // one event can have several leaks: the parts of a mapping
	}
	l.next += n
	return leaked, freed, l.freed.Read(freed)
}

// addMappings applies the events that map and unmap memory, and adds to b.freed the bytes that each
// unmapped.
func (l *Leaks) addMappings(b *heapBatch) {
	for i, op := range b.ops {
		if op < opRealloc {
			continue
		}
		addr, size := uint64(b.addresses[i]), uint64(b.sizes[i])
		switch {
		case op == opRealloc && b.olds[i] == 0:
			l.BlindReallocs++
		case op != opMmap && op != opMunmap, addr == 0, size == 0, addr+size < addr:
		default:
			b.freed[i] += l.unmap(addr, addr+size)
			if op == opMmap {
				l.mapRange(mappedRange{addr, addr + size, l.events + i})
			}
		}
	}
}

// unmap removes [start, end) from the mapped ranges, and returns the number of bytes that were
// mapped there.
func (l *Leaks) unmap(start, end uint64) (freed int64) {
	i := sort.Search(len(l.ranges), func(i int) bool { return l.ranges[i].end > start })
	j := i
	var rest []mappedRange
	for ; j < len(l.ranges) && l.ranges[j].start < end; j++ {
		m := l.ranges[j]
		freed += int64(min(m.end, end) - max(m.start, start))
		if m.start < start {
			rest = append(rest, mappedRange{m.start, start, m.event})
		}
		if m.end > end {
			rest = append(rest, mappedRange{end, m.end, m.event})
		}
	}
	l.ranges = slices.Replace(l.ranges, i, j, rest...)
	return freed
}

func (l *Leaks) mapRange(m mappedRange) {
	i := sort.Search(len(l.ranges), func(i int) bool { return l.ranges[i].start >= m.end })
	l.ranges = slices.Insert(l.ranges, i, m)
}

// blockTable is a hash table of live blocks by address, which is never 0. The hash has a random
// factor, so that nobody can craft a recording whose addresses all collide.
type blockTable struct {
	blocks []block // linear probing; a free slot has address 0
	n      int
	factor uint64
	shift  int    // how far to shift a hash to the right to get a slot
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

// resize moves the blocks to a new table with this many slots.
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

// prefetch loads the slots of some addresses into the processor's cache, so that their cache misses
// overlap.
func (t *blockTable) prefetch(addresses []int64) {
	for _, a := range addresses {
		t.sink += t.blocks[t.slot(uint64(a))].address
	}
}

// find returns the slot of the block at an address, or the free slot for it.
func (t *blockTable) find(address uint64) int {
	mask := len(t.blocks) - 1
	for i := t.slot(address); ; i = (i + 1) & mask {
		if a := t.blocks[i].address; a == address || a == 0 {
			return i
		}
	}
}

// put adds a block. It returns the size of the block at the same address that it replaces, 0 for
// none.
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

// take removes the block at an address and returns its size, 0 for none. It fills the hole with
// later blocks of the probe sequence, so that find still reaches them.
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
