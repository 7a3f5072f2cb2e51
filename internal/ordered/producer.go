package ordered

import "context"

// Producer makes values on a goroutine of its own, ahead of their consumer.
type Producer[T any] struct {
	values  chan T
	drop    func(T)
	end     context.CancelFunc
	stopped *Future[struct{}]
}

// NewProducer starts to make values with next, until next has no more or fails, or the context ends.
// At most queue values wait. drop releases a value that is never taken.
func NewProducer[T any](ctx context.Context, queue int, next func() (v T, more bool, err error), drop func(T)) *Producer[T] {
	p := &Producer[T]{values: make(chan T, queue), drop: drop}
	ctx, p.end = context.WithCancel(ctx)
	p.stopped = Start(func() (none struct{}, err error) {
		defer close(p.values)
		for {
			v, more, err := next()
			if err != nil || !more {
				return none, err
			}
			select {
			case p.values <- v:
			case <-ctx.Done():
				drop(v)
				return none, context.Cause(ctx)
			}
		}
	})
	return p
}

// Next returns the next value; false after the last one. The error is from next, or the context's.
func (p *Producer[T]) Next() (v T, more bool, err error) {
	if v, more = <-p.values; more {
		return v, true, nil
	}
	_, err = p.stopped.Wait()
	return v, false, err
}

// Close ends the producer, and waits for it.
func (p *Producer[T]) Close() {
	p.end()
	for v := range p.values {
		p.drop(v)
	}
	_, _ = p.stopped.Wait() // Next has returned the error, or was not called
}
