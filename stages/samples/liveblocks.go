package samples

// liveBlocks are the blocks that live, of half of all addresses. What becomes of a block
// depends on events with its address only.
type liveBlocks struct {
	*blockTable
	half   uint64  // 0 or 1
	events int     // before the batch
	own    []int32 // the events of a batch that have an address of this half
}

// fetchedEvents is of how many events the blocks are fetched at once.
const fetchedEvents = 32

// add takes in the calls of allocators in a batch, and adds how much each freed of this
// half.
func (l *liveBlocks) add(e *heapBatch) {
	l.choose(e.heapEvents)
	for n, i := range l.own {
		if n%fetchedEvents == 0 {
			l.fetch(e.addresses, l.own[n:min(n+fetchedEvents, len(l.own))])
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

// choose lists the events that have an address of this half. It takes no branches, which
// no processor could predict.
func (l *liveBlocks) choose(e heapEvents) {
	if len(e.ops) > cap(l.own) {
		l.own = make([]int32, len(e.ops))
	}
	own, n := l.own[:len(e.ops)], uint64(0)
	for i, op := range e.ops {
		own[n] = int32(i)
		n += l.has(uint64(e.addresses[i])) | l.has(uint64(e.olds[i]))&uint64(op>>1)&1 // of a realloc
	}
	l.own = own[:n]
}

// has is 1 for an address of this half, else 0.
func (l *liveBlocks) has(address uint64) uint64 { return address*0x9e3779b97f4a7c15>>63 ^ l.half ^ 1 }

// allocate adds a block, and returns how much that freed.
func (l *liveBlocks) allocate(b block) (freed int64) {
	if b.address == 0 || l.has(b.address) == 0 {
		return 0
	}
	return int64(l.put(b))
}

func (l *liveBlocks) free(address uint64) (freed int64) {
	if l.has(address) == 0 {
		return 0
	}
	return int64(l.take(address))
}
