//go:build cgo

package main

import (
	"context"
	"os"
	"time"

	"stackmill/queries"
	"stackmill/queries/sandbox"
)

const (
	grace       = interruptGrace / 2    // how long the SQL engine may take to stop
	memoryLook  = 50 * time.Millisecond // between looks at the process's size
	memorySlack = 1 << 30               // beyond the engine's memory, for what it does not count and this program
)

// attend runs work until it ends or must stop: it is interrupted, its time is over, or
// the process takes more than so many bytes of memory. The engine does not count what
// functions allocate, and stops only between rows; work that does not stop in time is
// stuck: it is left running until the program ends.
func attend(ctx context.Context, timeout time.Duration, memory int64, work func(context.Context) error) (err error, stuck bool) {
	if timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- orPanic(func() error { return work(ctx) }) }()
	look := time.NewTicker(memoryLook)
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
			case <-time.After(grace):
				stuck = true
			}
			return context.Cause(ctx), stuck
		}
	}
}
