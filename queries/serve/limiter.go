package serve

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"
)

const defaultWait = 10 * time.Second

// limiter limits how many requests are answered at the same time, and how many may wait.
type limiter struct {
	slots      chan struct{}
	waiting    atomic.Int64
	maxWaiting int64
	maxWait    time.Duration
}

func newLimiter(atOnce, waiting int) *limiter {
	return &limiter{slots: make(chan struct{}, atOnce), maxWaiting: int64(waiting), maxWait: defaultWait}
}

var errBusy = &failure{http.StatusServiceUnavailable, errors.New("the server is busy (try again in a moment)")}

// acquire waits until a request may be answered. done lets the next one begin.
func (t *limiter) acquire(ctx context.Context) (done func(), err error) {
	done = func() { <-t.slots }
	select {
	case t.slots <- struct{}{}:
		return done, nil
	default:
	}
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > t.maxWaiting {
		return nil, errBusy
	}
	patience := time.NewTimer(t.maxWait)
	defer patience.Stop()
	select {
	case t.slots <- struct{}{}:
		return done, nil
	case <-patience.C:
		return nil, errBusy
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
