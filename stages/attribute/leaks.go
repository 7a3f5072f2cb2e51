package attribute

import (
	"cmp"
	"slices"
	"sort"

	"stackmill/stages/spill"
)

// Leaks says, for each heap event of a process in the order of time, how much
// of what it allocated was never freed, and how much it freed
// (gprofng-experiment 9.1). In memory are the blocks that live.
//
// Two corrections to what gprofng computes: an allocation that returns an
// address at which a block is live ends that block, for it must have been freed
// by a call that is not in the recording (collectors record no old address for
// realloc); and a realloc that fails leaves the old block alone.
type Leaks struct {
	// Untold is the number of reallocs without the address of the old block.
	Untold int64

	events int
	freed  *spill.Stream
	live   *blockTable
	maps   []mapped // mmap'ed ranges, sorted, not overlapping

	leaks []leak // once all is read, in the order of events; those that were asked for are gone
	asked int
}

// leak is how much was never freed of what an event allocated.
type leak struct {
	event int
	bytes int64
}

type mapped struct {
	start, end uint64
	event      int
}

func newLeaks(space *spill.Space) *Leaks {
	return &Leaks{freed: spill.NewStream(space), live: newBlockTable()}
}

func (l *Leaks) add(e heapEvents) error {
	freed := make([]int64, len(e.ops))
	for i, op := range e.ops {
		freed[i] = l.event(op, uint64(e.sizes[i]), uint64(e.addresses[i]), uint64(e.olds[i]))
	}
	return l.freed.Append(freed)
}

// finish lists what was never freed.
func (l *Leaks) finish() {
	l.leaks = make([]leak, 0, l.live.n+len(l.maps))
	for _, b := range l.live.blocks {
		if b.address != 0 {
			l.leaks = append(l.leaks, leak{b.event, int64(b.size)})
		}
	}
	for _, m := range l.maps {
		l.leaks = append(l.leaks, leak{m.event, int64(m.end - m.start)})
	}
	l.live, l.maps = nil, nil
	slices.SortFunc(l.leaks, func(a, b leak) int { return cmp.Compare(a.event, b.event) })
}

// Next returns what leaked and was freed by the next n events, zeros for those that
// ReadHeap has not seen: a file may grow between two readings. An error is a fault of
// the machine.
func (l *Leaks) Next(n int) (leaked, freed []int64, err error) {
	leaked, freed = make([]int64, n), make([]int64, n)
	for ; len(l.leaks) > 0 && l.leaks[0].event < l.asked+n; l.leaks = l.leaks[1:] {
		leaked[l.leaks[0].event-l.asked] += l.leaks[0].bytes // the parts of a mapping
	}
	l.asked += n
	return leaked, freed, l.freed.Read(freed)
}

// event takes in the next event, and returns how much it freed.
func (l *Leaks) event(op int32, size, addr, old uint64) (freed int64) {
	switch op {
	case opMalloc:
		freed = l.allocate(addr, size)
	case opFree:
		freed = l.free(addr)
	case opRealloc:
		if old == 0 {
			l.Untold++
		} else if addr != 0 || size == 0 {
			freed = l.free(old)
		}
		freed += l.allocate(addr, size)
	case opMmap, opMunmap:
		if addr == 0 || size == 0 || addr+size < addr {
			break
		}
		freed = l.unmap(addr, addr+size)
		if op == opMmap {
			l.mapRange(mapped{addr, addr + size, l.events})
		}
	}
	l.events++
	return freed
}

// allocate adds a block, and returns how much that freed.
func (l *Leaks) allocate(addr, size uint64) (freed int64) {
	if addr == 0 {
		return 0
	}
	return int64(l.live.put(block{addr, size, l.events}))
}

func (l *Leaks) free(addr uint64) (freed int64) { return int64(l.live.take(addr)) }

// unmap takes [start, end) from the ranges it overlaps, and returns how much that was.
func (l *Leaks) unmap(start, end uint64) (freed int64) {
	i := sort.Search(len(l.maps), func(i int) bool { return l.maps[i].end > start })
	j := i
	var rest []mapped
	for ; j < len(l.maps) && l.maps[j].start < end; j++ {
		m := l.maps[j]
		freed += int64(min(m.end, end) - max(m.start, start))
		if m.start < start {
			rest = append(rest, mapped{m.start, start, m.event})
		}
		if m.end > end {
			rest = append(rest, mapped{end, m.end, m.event})
		}
	}
	if j > i {
		l.maps = append(l.maps[:i], append(rest, l.maps[j:]...)...)
	}
	return freed
}

func (l *Leaks) mapRange(m mapped) {
	i := sort.Search(len(l.maps), func(i int) bool { return l.maps[i].start >= m.end })
	l.maps = append(l.maps, mapped{})
	copy(l.maps[i+1:], l.maps[i:])
	l.maps[i] = m
}
