package ordered

import (
	"runtime/debug"
	"sync"
)

// ahead is how many results each worker has in memory.
const ahead = 2

// Map makes results 0 to n-1. Worker w fills results w, w+workers, ... in this order, on a
// goroutine of its own, and so can have memory of its own. Meanwhile, take gets all results in
// order, on the caller's goroutine; a result's memory is then reused. Map stops when take returns
// false. If fill panics, Map panics when it is the result's turn: with a page fault unchanged, with
// any other panic as a *Panic.
func Map[T any](workers, n int, fill func(worker, number int, to *T), take func(*T) bool) {
	if n == 1 {
		var only T
		fill(0, 0, &only)
		take(&only)
		return
	}
	lines := make([]line[T], min(workers, n))
	left := make(chan struct{})
	var running sync.WaitGroup
	defer running.Wait()
	defer close(left)
	for w := range lines {
		l := &lines[w]
		l.filled, l.free = make(chan *T, ahead), make(chan *T, ahead)
		for range ahead {
			l.free <- new(T)
		}
		running.Go(func() {
			l.run(left, func(to *T, turn int) bool {
				number := w + turn*len(lines)
				if number < n {
					fill(w, number, to)
				}
				return number < n
			})
		})
	}
	for number := range n {
		l := &lines[number%len(lines)]
		result, ok := <-l.filled
		if !ok {
			panic(l.panicked)
		}
		if !take(result) {
			return
		}
		l.free <- result
	}
}

// line passes results between a worker and the caller. Both channels have room for all results of
// the worker, so that sending never blocks.
type line[T any] struct {
	filled, free chan *T
	panicked     any // the panic for which filled was closed early
}

// run fills results until there are no more, or the caller has left.
func (l *line[T]) run(left chan struct{}, fill func(to *T, turn int) bool) {
	defer close(l.filled)
	defer func() { l.panicked = panicOf(recover()) }()
	debug.SetPanicOnFault(true)
	for turn := 0; ; turn++ {
		select {
		case to := <-l.free:
			if !fill(to, turn) {
				return
			}
			l.filled <- to
		case <-left:
			return
		}
	}
}
