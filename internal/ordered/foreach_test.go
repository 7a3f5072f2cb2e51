package ordered

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Every number is started, and no more than limit run at a time.
func TestForEach(t *testing.T) {
	for _, tt := range []struct{ n, limit int }{{0, 3}, {1, 3}, {2, 1}, {20, 3}, {5, 0}} {
		var begun, running, most atomic.Int64
		err := ForEach(t.Context(), tt.n, tt.limit, func(context.Context, int) error {
			defer running.Add(-1)
			begun.Add(1)
			for now := running.Add(1); now > most.Load(); {
				most.Store(now)
			}
			time.Sleep(time.Millisecond)
			return nil
		})
		if err != nil || int(begun.Load()) != tt.n || tt.limit > 0 && most.Load() > int64(tt.limit) {
			t.Errorf("%d of %d numbers were begun, %d at a time: %v", begun.Load(), tt.n, most.Load(), err)
		}
	}
}

// After an error or the context's end no further number is started, and running ones can notice.
func TestForEachEnds(t *testing.T) {
	failure, ended := errors.New("failed"), errors.New("ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	for _, tt := range []struct {
		at   func() error
		want error
	}{{func() error { return failure }, failure}, {func() error { cancel(ended); return nil }, ended}} {
		var begun atomic.Int64
		err := ForEach(ctx, 100, 2, func(ctx context.Context, i int) error {
			begun.Add(1)
			if i == 3 {
				return tt.at()
			}
			if i > 3 {
				<-ctx.Done()
			}
			return nil
		})
		if !errors.Is(err, tt.want) || begun.Load() > 6 {
			t.Error(err, begun.Load())
		}
	}
}

// All functions are run, and all errors returned.
func TestRun(t *testing.T) {
	first, third := errors.New("first"), errors.New("third")
	err := Run(func() error { return first }, func() error { return nil }, func() error { return third })
	if !errors.Is(err, first) || !errors.Is(err, third) {
		t.Error(err)
	}
}

// A function's panic reaches the caller, with its stack, once all others have returned.
func TestRunPanics(t *testing.T) {
	returned := false
	defer func() {
		if p, ok := recover().(*Panic); !ok || p.Value != "mistake" || !strings.Contains(string(p.Stack), "foreach_test.go") || !returned {
			t.Error(p, returned)
		}
	}()
	waits := make(chan struct{})
	_ = Run(
		func() error { <-waits; returned = true; return nil },
		func() error { close(waits); panic("mistake") },
		func() error { return errors.New("failed") },
	)
}
