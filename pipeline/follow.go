package pipeline

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// follower passes items on in their order, on a goroutine of its own, while its owner makes
// further ones.
type follower[T any] struct {
	items  chan T // nil once it is closed
	group  errgroup.Group
	failed chan struct{} // closed after the first error
	err    error         // that one
}

// follow begins. pass gets each item until the first error or the context's end; free gets
// each that was passed on or will not be. So many may wait.
func follow[T any](ctx context.Context, waiting int, pass func(T) error, free func(T)) *follower[T] {
	items := make(chan T, waiting)
	f := &follower[T]{items: items, failed: make(chan struct{})}
	f.group.Go(func() error {
		for item := range items {
			if f.err == nil {
				if f.err = context.Cause(ctx); f.err == nil {
					f.err = guarded(func() error { return pass(item) })
				}
				if f.err != nil {
					close(f.failed)
				}
			}
			free(item)
		}
		return f.err
	})
	return f
}

// add hands an item over, and returns the error of one before it, if there is one.
func (f *follower[T]) add(item T) error {
	f.items <- item
	select {
	case <-f.failed:
		return f.err
	default:
		return nil
	}
}

// close waits until all is passed on, and returns the first error. It may be called again.
func (f *follower[T]) close() error {
	if f.items != nil {
		close(f.items)
		f.items = nil
	}
	return f.group.Wait()
}
