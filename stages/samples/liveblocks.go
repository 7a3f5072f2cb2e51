package samples

// liveBlocks holds the live blocks of half of all addresses. The events of a block are those
// with its address, so that the halves are independent.
type liveBlocks struct {
	*blockTable
	half     uint64  // 0 or 1
	events   int     // before the current batch
	selected []int32 // the events of the batch with an address of this half
}

// prefetchEvents is the number of events whose blocks are prefetched at once.
const prefetchEvents = 32

// add applies the allocator calls in a batch to this half, and adds the bytes that each freed.
func (l *liveBlocks) add(e *heapBatch) {
	l.selectEvents(e.heapEvents)
	for n, i := range l.selected {
		if n%prefetchEvents == 0 {
			l.prefetch(e.addresses, l.selected[n:min(n+prefetchEvents, len(l.selected))])
		}
		size, addr, old := uint64(e.sizes[i]), uint64(e.addresses[i]), uint64(e.olds[i])
		b := block{addr, size, l.events + int(i)}
		switch e.ops[i] {
		case opMalloc:
			e.freed[i] += l.allocate(b)
		case opFree:
			e.freed[i] += l.free(addr)
		case opRealloc:
			if addr != 0 || size == 0 {
				e.freed[i] += l.free(old)
			}
			e.freed[i] += l.allocate(b)
		}
	}
	l.events += len(e.ops)
}

// selectEvents lists the events with an address of this half, without branches: no processor
// could predict them.
func (l *liveBlocks) selectEvents(e heapEvents) {
	if len(e.ops) > cap(l.selected) {
		l.selected = make([]int32, len(e.ops))
	}
	own, n := l.selected[:len(e.ops)], uint64(0)
	for i, op := range e.ops {
		own[n] = int32(i)
		n += l.inHalf(uint64(e.addresses[i])) | l.inHalf(uint64(e.olds[i]))&uint64(op>>1)&1 // of a realloc
	}
	l.selected = own[:n]
}

// inHalf returns 1 for an address of this half, else 0.
func (l *liveBlocks) inHalf(address uint64) uint64 {
	return address*0x9e3779b97f4a7c15>>63 ^ l.half ^ 1
}

// allocate adds a block, and returns the size of the block that it replaces.
func (l *liveBlocks) allocate(b block) (freed int64) {
	if b.address == 0 || l.inHalf(b.address) == 0 {
		return 0
	}
	return int64(l.put(b))
}

func (l *liveBlocks) free(address uint64) (freed int64) {
	if l.inHalf(address) == 0 {
		return 0
	}
	return int64(l.take(address))
}
