package ordered

import (
	"math"
	"runtime/debug"
	"sync"
)

// Chain makes results 0 to n-1, in this order: each passes through all steps, and then to take, on
// the caller's goroutine. A step has a goroutine, handles one result at a time, and so can have
// memory of its own. At most ahead results wait between steps. A result's memory is reused after
// take. Chain stops when take returns false. If a step panics, Chain panics like Map, once take has
// had all results before that one.
func Chain[T any](n, ahead int, steps []func(*T), take func(*T) bool) {
	size := ahead + len(steps) + 1
	free, left := make(chan link[T], size), make(chan struct{})
	for range size {
		free <- link[T]{result: new(T)}
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer close(left)
	from := free
	for _, do := range steps {
		to, in, most := make(chan link[T], size), from, n
		running.Go(func() { pass(in, to, left, most, do) })
		from, n = to, math.MaxInt // later steps end when the first one does
	}
	for l := range from {
		if l.panicked != nil {
			panic(l.panicked)
		}
		if !take(l.result) {
			return
		}
		free <- l
	}
}

// link carries a result, or the panic of a step, to the next step. The channels have room for all
// links, so that sending never blocks.
type link[T any] struct {
	result   *T
	panicked any
}

// pass passes results through one step, until n results have passed, the step before has ended, or
// the caller has left. After a panic, it passes nothing more.
func pass[T any](from <-chan link[T], to chan<- link[T], left <-chan struct{}, n int, do func(*T)) {
	defer close(to)
	debug.SetPanicOnFault(true)
	for range n {
		select {
		case l, more := <-from:
			if !more {
				return
			}
			if l.panicked == nil {
				l.run(do)
			}
			if to <- l; l.panicked != nil {
				return
			}
		case <-left:
			return
		}
	}
}

// run runs a step, and recovers its panic.
func (l *link[T]) run(do func(*T)) {
	defer func() { l.panicked = panicOf(recover()) }()
	do(l.result)
}
