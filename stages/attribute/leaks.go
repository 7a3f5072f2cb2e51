package attribute

import (
	"math"
	"sort"
)

// Leaks says, for each heap event of a process in the order of time, how much
// of what it allocated was never freed, and how much it freed
// (gprofng-experiment 9.1).
//
// Two corrections to what gprofng computes: an allocation that returns an
// address at which a block is live ends that block, for it must have been freed
// by a call that is not in the recording (collectors record no old address for
// realloc); and a realloc that fails leaves the old block alone.
type Leaks struct {
	Leaked, Freed amounts
	// Untold is the number of reallocs without the address of the old block.
	Untold int64

	live map[uint64]int // block address -> event that allocated it
	maps []mapped       // mmap'ed ranges, sorted, not overlapping
}

type mapped struct {
	start, end uint64
	event      int
}

func (l *Leaks) add(e heapEvents) {
	for i, op := range e.ops {
		event := l.Leaked.len()
		l.Leaked.push(0)
		l.Freed.push(0)
		l.event(event, op, uint64(e.sizes[i]), uint64(e.addresses[i]), uint64(e.olds[i]))
	}
}

func (l *Leaks) event(event int, op int32, size, addr, old uint64) {
	switch op {
	case opMalloc:
		l.allocate(event, addr, size)
	case opFree:
		l.free(event, addr)
	case opRealloc:
		if old == 0 {
			l.Untold++
		} else if addr != 0 || size == 0 {
			l.free(event, old)
		}
		l.allocate(event, addr, size)
	case opMmap, opMunmap:
		if addr == 0 || size == 0 || addr+size < addr {
			return
		}
		l.unmap(event, addr, addr+size)
		if op == opMmap {
			l.mapRange(mapped{addr, addr + size, event})
			l.Leaked.set(event, int64(size))
		}
	}
}

func (l *Leaks) allocate(event int, addr, size uint64) {
	if addr == 0 {
		return
	}
	l.free(event, addr)
	l.live[addr] = event
	l.Leaked.set(event, int64(size))
}

func (l *Leaks) free(event int, addr uint64) {
	if owner, ok := l.live[addr]; ok {
		l.Freed.set(event, l.Freed.get(event)+l.Leaked.get(owner))
		l.Leaked.set(owner, 0)
		delete(l.live, addr)
	}
}

// unmap takes [start, end) from the ranges it overlaps.
func (l *Leaks) unmap(event int, start, end uint64) {
	i := sort.Search(len(l.maps), func(i int) bool { return l.maps[i].end > start })
	j := i
	var rest []mapped
	for ; j < len(l.maps) && l.maps[j].start < end; j++ {
		m := l.maps[j]
		cut := int64(min(m.end, end) - max(m.start, start))
		l.Leaked.set(m.event, l.Leaked.get(m.event)-cut)
		l.Freed.set(event, l.Freed.get(event)+cut)
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
}

func (l *Leaks) mapRange(m mapped) {
	i := sort.Search(len(l.maps), func(i int) bool { return l.maps[i].start >= m.end })
	l.maps = append(l.maps, mapped{})
	copy(l.maps[i+1:], l.maps[i:])
	l.maps[i] = m
}

// amounts is a list of byte counts, one per heap event. Nearly all fit 32 bits.
type amounts struct {
	small []uint32
	large map[int]int64 // those whose small is math.MaxUint32
}

func (a *amounts) len() int { return len(a.small) }

func (a *amounts) push(v int64) {
	a.small = append(a.small, 0)
	a.set(len(a.small)-1, v)
}

// get returns 0 for unseen events: a file may grow between two readings.
func (a *amounts) get(i int) int64 {
	if i >= len(a.small) {
		return 0
	}
	if a.small[i] == math.MaxUint32 {
		return a.large[i]
	}
	return int64(a.small[i])
}

func (a *amounts) set(i int, v int64) {
	if 0 <= v && v < math.MaxUint32 {
		a.small[i] = uint32(v)
		return
	}
	if a.large == nil {
		a.large = map[int]int64{}
	}
	a.small[i] = math.MaxUint32
	a.large[i] = v
}
