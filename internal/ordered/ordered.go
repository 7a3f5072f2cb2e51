// Package ordered lets goroutines make results that are used in their order.
package ordered

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// ahead is how many results of a worker are in memory.
const ahead = 2

// Each fills n results on goroutines, the workers, and takes them in the order of their
// numbers, from 0, on the caller's, while further ones are filled. Worker w fills the
// numbers w, w+workers, ... in this order, so that it may have memory of its own. That of
// a result is used again once it was taken. It returns when take returns false, too. A
// panic of fill becomes one of Each, when it is the result's turn: that of a page fault
// as it is, any other as a *Panic. No goroutine is left when Each returns or panics.
func Each[T any](workers, n int, fill func(worker, number int, to *T), take func(*T) bool) {
	if n == 1 { // there is nothing to do at the same time
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

// line is what goes between a worker and the caller. Both channels have room for all
// results.
type line[T any] struct {
	filled, free chan *T
	panicked     any // why filled was closed before its end
}

// run fills results until there are no more, or the caller has left.
func (l *line[T]) run(left chan struct{}, fill func(to *T, turn int) bool) {
	defer close(l.filled)
	defer func() { l.panicked = panickedWith(recover()) }()
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

// Panic is what a goroutine panicked with, and where: who waits for it panics with that.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) String() string { return fmt.Sprint(p.Value) }

// panickedWith returns what to panic with again. Callers know page faults by what they are.
func panickedWith(value any) any {
	switch value.(type) {
	case nil, *Panic, interface{ Addr() uintptr }:
		return value
	}
	return &Panic{value, debug.Stack()}
}
