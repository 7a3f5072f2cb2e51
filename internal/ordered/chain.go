package ordered

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// Chain passes n results through steps in the order of their numbers, from 0; the last
// step is take. A step has one result at a time, so that it may have memory of its own. The
// memory of a result is used again once it was taken: as many as ahead says are on their
// way beside those that steps have now. It returns when take returns false, too. A panic of
// a step becomes one of Chain once all results before it were taken, as in Each.
//
// Steps run on as many goroutines as there are processors: where there are fewer of these
// than steps, none of them waits for a step as long as there is another one to do. No
// goroutine is left when Chain returns or panics.
func Chain[T any](n, ahead int, steps []func(*T), take func(*T) bool) {
	c := &chain[T]{n: n}
	for range ahead + len(steps) {
		c.results = append(c.results, new(T))
	}
	for _, do := range steps {
		c.steps = append(c.steps, step[T]{do: func(result *T) bool { do(result); return true }})
	}
	c.steps = append(c.steps, step[T]{do: take})
	c.changed.L = &c.mu
	var running sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(c.steps)) - 1 {
		running.Go(c.work)
	}
	c.work()
	running.Wait()
	if c.panicked != nil {
		panic(c.panicked)
	}
}

// chain is what the goroutines of Chain share.
type chain[T any] struct {
	mu       sync.Mutex
	changed  sync.Cond // there is something to do, or nothing is left
	waiting  int       // goroutines that wait for that
	n        int       // results are wanted up to this one
	results  []*T      // by number, in a circle; each by itself in memory
	steps    []step[T]
	panicked any // what the step of result n panicked with
}

// step is one of the chain's steps.
type step[T any] struct {
	do   func(*T) bool // false: no more results are wanted
	done int           // how many results have passed it
	busy bool          // it has one now
}

// work does what there is to do until nothing is left.
func (c *chain[T]) work() {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	c.mu.Lock()
	defer c.mu.Unlock()
	var own *step[T]
	for {
		s := c.next(own)
		switch {
		case s != nil:
			own = s
			c.do(s)
		case c.last().done < c.n:
			c.waiting++
			c.changed.Wait()
			c.waiting--
		default:
			c.changed.Broadcast()
			return
		}
	}
}

// do has a step do its next result.
func (c *chain[T]) do(s *step[T]) {
	s.busy = true
	if c.waiting > 0 && c.next(s) != nil {
		c.changed.Signal()
	}
	c.mu.Unlock()
	more, panicked := s.run(c.results[s.done%len(c.results)])
	c.mu.Lock()
	s.busy = false
	switch {
	case panicked == nil && more:
		s.done++
	case panicked == nil:
		s.done++
		c.n, c.panicked = s.done, nil
	case s.done < c.n:
		c.n, c.panicked = s.done, panicked
	}
}

// next returns a step that has something to do, nil if none has: own, which the goroutine did
// last, as long as possible, for goroutines that change steps wake each other all the time;
// else the last one, which has its result near in memory.
func (c *chain[T]) next(own *step[T]) (next *step[T]) {
	before := c.last().done + len(c.results) // how many results have passed the step before
	for i := range c.steps {
		s := &c.steps[i]
		if !s.busy && s.done < min(before, c.n) {
			if s == own {
				return s
			}
			next = s
		}
		before = s.done
	}
	return next
}

// last returns the last step.
func (c *chain[T]) last() *step[T] { return &c.steps[len(c.steps)-1] }

// run runs the step.
func (s *step[T]) run(result *T) (more bool, panicked any) {
	defer func() {
		if p := recover(); p != nil {
			panicked = panickedWith(p)
		}
	}()
	return s.do(result), nil
}
