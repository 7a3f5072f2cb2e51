package serve

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"
)

// longestWait is how long a request waits for its turn by default.
const longestWait = 10 * time.Second

// turns bound how many requests are answered at once, and how many wait.
type turns struct {
	free    chan struct{}
	waiting atomic.Int64
	most    int64
	longest time.Duration // that one waits
}

func newTurns(atOnce, waiting int) *turns {
	return &turns{free: make(chan struct{}, atOnce), most: int64(waiting), longest: longestWait}
}

// errBusy is the failure of a request that has no turn.
var errBusy = &failure{http.StatusServiceUnavailable, errors.New("too many requests are being answered (ask again in a moment)")}

// take waits for a turn, which done ends.
func (t *turns) take(ctx context.Context) (done func(), err error) {
	done = func() { <-t.free }
	select {
	case t.free <- struct{}{}:
		return done, nil
	default:
	}
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > t.most {
		return nil, errBusy
	}
	patience := time.NewTimer(t.longest)
	defer patience.Stop()
	select {
	case t.free <- struct{}{}:
		return done, nil
	case <-patience.C:
		return nil, errBusy
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
