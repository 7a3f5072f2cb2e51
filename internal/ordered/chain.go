package ordered

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// Chain passes n results through steps in the order of their numbers, from 0; the last step is
// take. A step has one result at a time, so that it may have memory of its own. The memory of a
// result is used again once it was taken: besides the results that steps have, at most ahead of
// them wait. Chain also returns when take returns false. A panic of a step becomes one of Chain
// once all results before it were taken, as in Map.
//
// Steps run on as many goroutines as there are processors. Where these are fewer than the steps,
// none of them waits for one step as long as there is another one to do.
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

// chain is the state that the goroutines of Chain share.
type chain[T any] struct {
	mu       sync.Mutex
	changed  sync.Cond // a step can run, or all have ended
	waiting  int       // goroutines that wait for changed
	n        int       // results are wanted up to this one
	results  []*T      // a ring, by number; each is a separate allocation
	steps    []step[T]
	panicked any // what the step of result n panicked with
}

// step is a function of the chain and its progress.
type step[T any] struct {
	do   func(*T) bool // false: no more results are wanted
	done int           // results that have passed it
	busy bool          // a goroutine runs it
}

// work runs steps until all results have passed.
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

// do runs a step with its next result.
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

// next returns a step that can run, or nil: own, the one that the goroutine ran before, as long as
// possible, since goroutines that change steps keep waking each other; else the last such step,
// whose result is still in the processor's cache.
func (c *chain[T]) next(own *step[T]) (next *step[T]) {
	before := c.last().done + len(c.results) // results that have passed the step before
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

func (c *chain[T]) last() *step[T] { return &c.steps[len(c.steps)-1] }

// run runs the step, and recovers its panic.
func (s *step[T]) run(result *T) (more bool, panicked any) {
	defer func() {
		if p := recover(); p != nil {
			panicked = panicOf(p)
		}
	}()
	return s.do(result), nil
}
