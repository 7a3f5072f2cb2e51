package ordered

import (
	"context"
	"sync"
)

// Worker processes values in the order in which they are added, on a goroutine of its own or, if it
// is inline, on the caller's. After an error, a panic or the context's end, it drops values.
type Worker[T any] struct {
	ctx      context.Context
	do       func(T) error
	drop     func(T)
	queue    chan T // nil: Add processes the value itself
	pending  sync.WaitGroup
	failed   chan struct{} // closed after an error; then err is set
	err      error
	dropped  error // why values were dropped
	finished *Future[struct{}]
}

// NewWorker starts a worker with a queue of the given length. Close ends it. drop, which may be nil,
// releases a value that is not processed.
func NewWorker[T any](ctx context.Context, queue int, do func(T) error, drop func(T)) *Worker[T] {
	w := NewInlineWorker(ctx, do, drop)
	values := make(chan T, queue)
	w.queue = values
	w.finished = Start(func() (none struct{}, err error) {
		for v := range values {
			_ = w.run(v) // Close returns the error
			w.pending.Done()
		}
		return none, nil
	})
	return w
}

// NewInlineWorker returns a worker without a goroutine: Add processes the value before it returns.
func NewInlineWorker[T any](ctx context.Context, do func(T) error, drop func(T)) *Worker[T] {
	if drop == nil {
		drop = func(T) {}
	}
	return &Worker[T]{ctx: ctx, do: do, drop: drop, failed: make(chan struct{})}
}

// run processes a value, or drops it.
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

// stopped returns why values are dropped; nil if they are not.
func (w *Worker[T]) stopped() error {
	if err := w.Err(); err != nil {
		return err
	}
	return context.Cause(w.ctx)
}

// Add queues a value, which belongs to the worker from then on, even if Add fails. It returns the
// error of processing an earlier value (or this one, if the worker is inline), or the context's.
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

// Wait waits until all added values are processed or dropped.
func (w *Worker[T]) Wait() { w.pending.Wait() }

// WaitFor waits until processing a value has closed done. It returns the error of processing a
// value, or the context's.
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

// Failed returns a channel that is closed when a value has failed.
func (w *Worker[T]) Failed() <-chan struct{} { return w.failed }

// Err returns the error of processing a value, nil as long as none has failed.
func (w *Worker[T]) Err() error {
	select {
	case <-w.failed:
		return w.err
	default:
		return nil
	}
}

// Close waits until all values are processed, and ends the worker. It returns the error of
// processing a value, or the context's if values were dropped because it ended. Close may be called
// again, and on a nil worker, but not concurrently with Add.
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
