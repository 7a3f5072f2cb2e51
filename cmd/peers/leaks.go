package main

// heapCall is a recorded call of an allocation function.
type heapCall struct {
	stack                      *stack
	operation                  int // as heap_samples.operation
	size, address, old, leaked int64
	lost                       int64 // the leaked bytes according to gprofng
}

// leaks finds the blocks that gprofng takes for leaked. The collector does not record which block a
// realloc replaces: gprofng keeps it alive forever, and later blocks at its address, too
// (gprofng-experiment 9.1). In the store, a block ends when another one is allocated at its
// address.
type leaks struct {
	calls []heapCall
	live  map[int64]int // by address: the call whose block gprofng keeps alive
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
		c.lost = c.leaked // for mappings, both sides agree
	}
	l.calls = append(l.calls, c)
}

func (l *leaks) free(address int64) {
	if n, ok := l.live[address]; ok {
		l.calls[n].lost = 0
		delete(l.live, address)
	}
}

// count adds the leaks to the stacks of their calls.
func (l *leaks) count() {
	for _, c := range l.calls {
		if c.stack != nil && c.lost > 0 {
			c.stack.leaks["heapleakbytes"] += c.lost
			c.stack.leaks["heapleakcnt"]++
		}
	}
}
