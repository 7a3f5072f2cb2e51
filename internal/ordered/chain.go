package ordered

import (
	"math"
	"runtime/debug"
	"sync"
)

// Chain passes n results, in the order of their numbers from 0, through steps, and then to take, on
// the caller's goroutine. Each step has a goroutine and handles one result at a time, so that it can
// have memory of its own. A result's memory is reused after take; at most ahead results wait besides
// those in steps. Chain also returns when take returns false. A panic of a step becomes one of Chain
// once all results before it were taken, as in Map.
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

// link is a result on its way, or the panic of a step. Channels have room for all of them.
type link[T any] struct {
	result   *T
	panicked any
}

// pass runs a step until it has passed n results, the step before has ended, or the caller has left.
// After a panic, it passes nothing more.
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
