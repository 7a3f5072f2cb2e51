package ordered

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// ForEach calls f with each number below n, in this order, at most limit calls at a time (all at
// once if limit is 0). It returns the first error. After an error, or when ctx ends, f's context
// ends too, and no further call starts. If f panics, ForEach panics once all other calls have
// returned.
func ForEach(ctx context.Context, n, limit int, f func(ctx context.Context, i int) error) error {
	if limit <= 0 {
		limit = n
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var next atomic.Int64
	panicked := make(chan any, 1)
	work := func() {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if p := panicOf(recover()); p != nil {
				end(nil)
				select {
				case panicked <- p:
				default: // another one was first
				}
			}
		}()
		for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			if err := f(ctx, i); err != nil {
				end(err)
			}
		}
	}
	var running sync.WaitGroup
	for range min(limit, n) - 1 {
		running.Go(work)
	}
	work()
	running.Wait()
	select {
	case p := <-panicked:
		panic(p)
	default:
		return context.Cause(ctx)
	}
}

// Run calls all functions concurrently, and returns their errors joined.
func Run(functions ...func() error) error {
	errs := make([]error, len(functions))
	_ = ForEach(context.Background(), len(functions), 0, func(_ context.Context, i int) error {
		errs[i] = functions[i]()
		return nil // an error does not stop the others
	})
	return errors.Join(errs...)
}
