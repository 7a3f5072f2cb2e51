package pipeline

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"stackmill/stages/stacktree"
	"stackmill/stages/unwind"
)

// beside does something with values, in their order, on a goroutine of its own, while the
// stages that hand them over go on.
type beside[T any] struct {
	ctx    context.Context
	values chan T
	drop   func(T)
	group  errgroup.Group
	undone sync.WaitGroup // the values that were added and are neither done nor dropped
	failed chan struct{}  // closed after an error, which is err then
	err    error
}

// runBeside begins. At most as many values wait as ahead says. After an error of do, or
// the context's end, values are dropped.
func runBeside[T any](ctx context.Context, ahead int, do func(T) error, drop func(T)) *beside[T] {
	values := make(chan T, ahead)
	b := &beside[T]{ctx: ctx, values: values, drop: drop, failed: make(chan struct{})}
	b.group.Go(func() error {
		for v := range values {
			switch {
			case b.err != nil || ctx.Err() != nil:
				drop(v)
			default:
				if b.err = guarded(func() error { return do(v) }); b.err != nil {
					close(b.failed)
				}
			}
			b.undone.Done()
		}
		return b.err
	})
	return b
}

// add hands a value over. The error is that of a value before it, or the context's.
func (b *beside[T]) add(v T) (err error) {
	b.undone.Add(1)
	select {
	case b.values <- v:
		return nil
	case <-b.failed:
		err = b.err
	case <-b.ctx.Done():
		err = context.Cause(b.ctx)
	}
	b.undone.Done()
	b.drop(v)
	return err
}

// wait waits until all that was handed over is done or dropped, if anything runs beside.
func (b *beside[T]) wait() {
	if b != nil {
		b.undone.Wait()
	}
}

// until waits until something is done that a value does. The error is that of a value, or the
// context's.
func (b *beside[T]) until(done <-chan struct{}) error {
	if b == nil {
		<-done
		return nil
	}
	select {
	case <-done:
		return nil
	case <-b.failed:
		return b.err
	case <-b.ctx.Done():
		return context.Cause(b.ctx)
	}
}

// failure returns the error of a value that was handed over, nil if there is none so far, or
// nothing runs beside.
func (b *beside[T]) failure() error {
	if b == nil {
		return nil
	}
	select {
	case <-b.failed:
		return b.err
	default:
		return nil
	}
}

// close waits until all is done. It may be called again.
func (b *beside[T]) close() error {
	if b.values != nil {
		close(b.values)
		b.values = nil
	}
	return b.group.Wait()
}

// rulesAhead bounds how much may wait for the rules, which are slow with stacks of functions
// that they meet for the first time, and fast later.
const rulesAhead = 16

// rule does something that uses the resolver or the rules, after all that was handed over
// before: beside the stages, unless these use them, too.
func (e *experiment) rule(do func()) {
	if e.rules == nil {
		do()
		return
	}
	_ = e.rules.add(do) // batch.number, processes and, at the end, grown have its error
}

// read passes stacks that were read through their stages.
func (e *experiment) read(r *unwind.StackBatch) {
	for _, s := range perStack {
		e.ruled(s.name, func() { s.run(e, r) })
	}
}

// ruled runs a stage that is run by rule, and adds how long it took.
func (e *experiment) ruled(name string, run func()) {
	began := time.Now()
	run()
	e.ruledFor = addTime(e.ruledFor, name, time.Since(began))
}

func (e *experiment) normalise(r *unwind.StackBatch) { e.unwinder.Add(r) }

// growthAhead bounds how much may wait to be added to the tree.
const growthAhead = 4

// grow adds stacks to the tree while further ones pass the rules.
func grow(ctx context.Context, tree *stacktree.Tree) *beside[*unwind.PathBatch] {
	grower := unwind.NewTreeBuilder(tree)
	add := func(more *unwind.PathBatch) error { grower.Add(more); return nil }
	return runBeside(ctx, growthAhead, add, func(*unwind.PathBatch) {})
}
