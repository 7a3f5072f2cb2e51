package main

// heapCall is a recorded call that allocates or frees memory.
type heapCall struct {
	stack                      *stack
	operation                  int // a value of heap_samples.operation
	size, address, old, leaked int64
	lost                       int64 // bytes that leak according to gprofng
}

// leaks computes which blocks gprofng counts as leaked. The recording does not say which block a
// realloc replaces, so gprofng never ends that block, nor later blocks at its address
// (gprofng-experiment 9.1). In the store, a block ends when another one is allocated at its
// address.
type leaks struct {
	calls []heapCall
	live  map[int64]int // by address: index of the call whose block gprofng considers alive
}

func (l *leaks) add(c heapCall) {
	const malloc, free, realloc = 0, 1, 2
	n := len(l.calls)
	switch c.operation {
	case free:
		l.free(c.address)
	case realloc:
		l.free(c.old)
		fallthrough
	case malloc:
		if c.address == 0 {
			break
		}
		c.lost = c.size
		if _, taken := l.live[c.address]; !taken {
			l.live[c.address] = n
		}
	default:
		c.lost = c.leaked // for mappings, gprofng agrees with the store
	}
	l.calls = append(l.calls, c)
}

func (l *leaks) free(address int64) {
	if n, ok := l.live[address]; ok {
		l.calls[n].lost = 0
		delete(l.live, address)
	}
}

// count adds the leaks to the stacks of the calls that allocated the blocks.
func (l *leaks) count() {
	for _, c := range l.calls {
		if c.stack != nil && c.lost > 0 {
			c.stack.leaks["heapleakbytes"] += c.lost
			c.stack.leaks["heapleakcnt"]++
		}
	}
}
