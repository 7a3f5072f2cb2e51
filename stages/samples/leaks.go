package samples

import (
	"sort"

	"stackmill/internal/chunked"
	"stackmill/internal/spill"
)

// Leaks says, for each heap event of a process in the order of time, how much
// of what it allocated was never freed, and how much it freed
// (gprofng-experiment 9.1). In memory are the blocks that live: each half of the addresses is
// a step of its own (ReadHeap).
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
	live   [2]liveBlocks
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
	l := &Leaks{freed: spill.NewStream(space)}
	for half := range l.live {
		l.live[half] = liveBlocks{blockTable: newBlockTable(), half: uint64(half)}
	}
	return l
}

// add takes in a batch that live has taken in.
func (l *Leaks) add(b *heapBatch) error {
	l.mappings(b)
	l.events += len(b.ops)
	return l.freed.Append(b.freed)
}

// finish lists what was never freed.
func (l *Leaks) finish() {
	l.leaks = make([]leak, 0, l.live[0].n+l.live[1].n+len(l.maps))
	for half := range l.live {
		for _, b := range l.live[half].blocks {
			if b.address != 0 {
				l.leaks = append(l.leaks, leak{b.event, int64(b.size)})
			}
		}
		l.live[half] = liveBlocks{}
	}
	for _, m := range l.maps {
		l.leaks = append(l.leaks, leak{m.event, int64(m.end - m.start)})
	}
	l.maps = nil
	l.leaks = chunked.SortBy(l.leaks, func(x *leak) uint64 { return uint64(x.event) })
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

// mappings takes in what events map and unmap, and adds how much each of them freed.
func (l *Leaks) mappings(b *heapBatch) {
	for i, op := range b.ops {
		if op < opRealloc { // most are
			continue
		}
		addr, size := uint64(b.addresses[i]), uint64(b.sizes[i])
		switch {
		case op == opRealloc && b.olds[i] == 0:
			l.Untold++
		case op != opMmap && op != opMunmap, addr == 0, size == 0, addr+size < addr:
		default:
			b.freed[i] += l.unmap(addr, addr+size)
			if op == opMmap {
				l.mapRange(mapped{addr, addr + size, l.events + i})
			}
		}
	}
}

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
