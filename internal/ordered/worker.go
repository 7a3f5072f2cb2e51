package ordered

import (
	"context"
	"sync"
)

// Worker processes values in the order in which they are added: on a goroutine of its own or, if it
// is inline, on the caller's. After an error, a panic or the context's end, values are dropped.
type Worker[T any] struct {
	ctx      context.Context
	do       func(T) error
	drop     func(T)
	queue    chan T // nil: Add does it
	pending  sync.WaitGroup
	failed   chan struct{} // closed after an error, which is err then
	err      error
	dropped  error // why values were dropped
	finished *Future[struct{}]
}

// NewWorker starts a worker with a queue of the given length. Close ends it. drop, which
// may be nil, releases a value that is not done.
func NewWorker[T any](ctx context.Context, queue int, do func(T) error, drop func(T)) *Worker[T] {
	w := NewInlineWorker(ctx, do, drop)
	values := make(chan T, queue)
	w.queue = values
	w.finished = Start(func() (none struct{}, err error) {
		for v := range values {
			_ = w.run(v) // Close returns it
			w.pending.Done()
		}
		return none, nil
	})
	return w
}

// NewInlineWorker returns a worker without a goroutine: Add returns when the value is done.
func NewInlineWorker[T any](ctx context.Context, do func(T) error, drop func(T)) *Worker[T] {
	if drop == nil {
		drop = func(T) {}
	}
	return &Worker[T]{ctx: ctx, do: do, drop: drop, failed: make(chan struct{})}
}

// run does something with a value, or drops it.
func (w *Worker[T]) run(v T) error {
	if err := w.stopped(); err != nil {
		w.dropped = err
		w.drop(v)
		return err
	}
	if err := Guard(func() error { return w.do(v) }); err != nil {
		w.err = err
		close(w.failed)
	}
	return w.Err()
}

// stopped returns why values are dropped, nil if they are not.
func (w *Worker[T]) stopped() error {
	if err := w.Err(); err != nil {
		return err
	}
	return context.Cause(w.ctx)
}

// Add queues a value, which belongs to the worker from then on, also after an error. The error is
// from an earlier value, or the context's.
func (w *Worker[T]) Add(v T) (err error) {
	if w.queue == nil {
		return w.run(v)
	}
	w.pending.Add(1)
	select {
	case w.queue <- v:
		return nil
	case <-w.failed:
		err = w.err
	case <-w.ctx.Done():
		err = context.Cause(w.ctx)
	}
	w.pending.Done()
	w.drop(v)
	return err
}

// Wait waits until all values that were added are done or dropped.
func (w *Worker[T]) Wait() { w.pending.Wait() }

// WaitFor waits until done is closed, which processing a value does. The error is from a value, or
// the context's.
func (w *Worker[T]) WaitFor(done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-w.failed:
		return w.err
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

// Failed is closed after the error of a value.
func (w *Worker[T]) Failed() <-chan struct{} { return w.failed }

// Err returns the error of a value, nil if there is none so far.
func (w *Worker[T]) Err() error {
	select {
	case <-w.failed:
		return w.err
	default:
		return nil
	}
}

// Close waits until all values are done, and ends the worker. The error is from a value, or the
// context's if it kept a value from being done. It may be called again, and of a worker that is
// nil, but not together with Add.
func (w *Worker[T]) Close() error {
	if w == nil {
		return nil
	}
	if w.queue != nil {
		close(w.queue)
		w.queue = nil
	}
	if w.finished != nil {
		_, _ = w.finished.Wait() // values have the errors
	}
	if err := w.Err(); err != nil {
		return err
	}
	return w.dropped
}
