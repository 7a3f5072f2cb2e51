//go:build cgo

package console

import (
	"context"
	"os"
	"time"

	"stackmill/internal/crash"
	"stackmill/queries"
	"stackmill/queries/sandbox"
)

const (
	stopGrace      = 350 * time.Millisecond // for the SQL engine to stop; less than the program has after a signal
	memoryInterval = 50 * time.Millisecond  // between looks at the process's size
	memorySlack    = 1 << 30                // beyond the engine's memory: what it does not count, and this program
)

// runLimited runs work until it ends, is interrupted, times out, or the process takes more bytes
// than memory. The engine does not count the allocations of functions, and stops only between
// rows: work that does not stop in time is stuck, and goes on until the program ends.
func runLimited(ctx context.Context, timeout time.Duration, memory int64, work func(context.Context) error) (err error, stuck bool) {
	if timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- crash.Catch(func() error { return work(ctx) }) }()
	look := time.NewTicker(memoryInterval)
	defer look.Stop()
	for {
		select {
		case err = <-done:
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err, false
		case <-look.C:
			if queries.ResidentMemory(os.Getpid()) > memory+memorySlack {
				cancel(sandbox.ErrMemory)
			}
		case <-ctx.Done():
			select {
			case <-done:
			case <-time.After(stopGrace):
				stuck = true
			}
			return context.Cause(ctx), stuck
		}
	}
}
