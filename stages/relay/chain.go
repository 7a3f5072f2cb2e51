package relay

import (
	"runtime/debug"
	"sync"
)

// Chain passes n results through steps in the order of their numbers, from 0: each step
// on a goroutine of its own, and take, the last one, on the caller's. A step has memory of
// its own, and that of a result is used again once it was taken. As many results as ahead
// says may wait for steps: small ones should be many, or steps wait for each other. It
// returns when take returns false, too. A panic of a step becomes one of Chain, as in Each.
// No goroutine is left when Chain returns or panics.
func Chain[T any](n, ahead int, steps []func(*T), take func(*T) bool) {
	results := ahead + len(steps)
	free := &link[T]{results: make(chan *T, results)}
	for range results {
		free.results <- new(T)
	}
	left := make(chan struct{})
	var running sync.WaitGroup
	defer running.Wait()
	defer close(left)
	last := free
	for _, step := range steps {
		from, to := last, &link[T]{results: make(chan *T, results)}
		running.Go(func() { to.fill(n, left, from, step) })
		last = to
	}
	for range n {
		result, ok := <-last.results
		if !ok {
			panic(last.panicked)
		}
		if !take(result) {
			return
		}
		free.results <- result
	}
}

// link is what goes from a step to the next one. The channel has room for all results.
type link[T any] struct {
	results  chan *T
	panicked any // why results was closed before its end
}

// fill passes results on from another link through a step until there are no more, or the
// caller has left.
func (l *link[T]) fill(n int, left chan struct{}, from *link[T], step func(*T)) {
	defer close(l.results)
	defer func() {
		if p := recover(); p != nil {
			l.panicked = panicked(p)
		}
	}()
	debug.SetPanicOnFault(true)
	for range n {
		select {
		case result, ok := <-from.results:
			if !ok {
				l.panicked = from.panicked
				return
			}
			step(result)
			l.results <- result
		case <-left:
			return
		}
	}
}
