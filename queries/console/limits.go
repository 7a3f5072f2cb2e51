//go:build cgo

package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"stackmill/internal/crash"
	"stackmill/queries"
	"stackmill/queries/sandbox"
)

const (
	stopGrace      = 350 * time.Millisecond // for the SQL engine to stop; less than the program's interruptGrace
	memoryInterval = 50 * time.Millisecond  // between checks of the process's memory
	memorySlack    = 1 << 30                // what the engine does not count, and this program
)

// runLimited runs work until it ends, is interrupted, times out, or the process uses more than
// memory bytes plus memorySlack: the engine does not count what SQL functions allocate. The engine
// stops only between rows. If work does not stop in time, stuck is true and work goes on until the
// program ends.
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

// Reword shortens an error of SQL to one sentence, and adds the flag that helps.
func Reword(err error, timeout time.Duration) error {
	if err = FileError(err); err == nil || errors.As(err, new(*rewordedError)) || errors.As(err, new(*queries.LostFile)) {
		return err
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	var refusal *queries.Refusal
	if errors.As(err, &refusal) {
		return fmt.Errorf("%w (--unsafe allows it)", err)
	}
	if queries.IsRefusal(err) {
		return &rewordedError{first + " (--unsafe lifts that)", err}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &rewordedError{fmt.Sprintf("the SQL did not end within %v (ask for less, or give more with --timeout)", timeout), err}
	case errors.Is(err, sandbox.ErrMemory), strings.HasPrefix(first, "Out of Memory Error"):
		return &rewordedError{"the SQL needs more memory, or more temporary files, than it may take (ask for less, or give more with --memory)", err}
	}
	return err
}

// FileError rewords the SQL engine's error about a missing file of the store.
func FileError(err error) error {
	if lost := queries.FindLostFile(err); lost != nil {
		return lost
	}
	return err
}

// rewordedError is an error with a shorter text than the error that it wraps.
type rewordedError struct {
	text string
	err  error
}

func (e *rewordedError) Error() string { return e.text }

func (e *rewordedError) Unwrap() error { return e.err }
