//go:build cgo

package console

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"stackmill/queries/sandbox"
)

func TestRunLimited(t *testing.T) {
	heeds := func(ctx context.Context) error { <-ctx.Done(); return errors.New("engine: interrupted") }
	over := make(chan struct{})
	defer close(over)
	deaf := func(context.Context) error { <-over; return nil }
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	for name, test := range map[string]struct {
		ctx     context.Context
		timeout time.Duration
		memory  int64
		work    func(context.Context) error
		want    error
		stuck   bool
	}{
		"done":             {t.Context(), time.Hour, 1 << 40, func(context.Context) error { return nil }, nil, false},
		"failed":           {t.Context(), 0, 1 << 40, func(context.Context) error { return io.EOF }, io.EOF, false},
		"late":             {t.Context(), time.Millisecond, 1 << 40, heeds, context.DeadlineExceeded, false},
		"late and deaf":    {t.Context(), time.Millisecond, 1 << 40, deaf, context.DeadlineExceeded, true},
		"large":            {t.Context(), 0, -memorySlack, heeds, sandbox.ErrMemory, false},
		"large and deaf":   {t.Context(), 0, -memorySlack, deaf, sandbox.ErrMemory, true},
		"interrupted":      {interrupted, 0, 1 << 40, heeds, context.Canceled, false},
		"interrupted late": {interrupted, 0, 1 << 40, deaf, context.Canceled, true},
	} {
		err, stuck := runLimited(test.ctx, test.timeout, test.memory, test.work)
		if !errors.Is(err, test.want) || err == nil != (test.want == nil) || stuck != test.stuck {
			t.Errorf("%s: %v, stuck %t", name, err, stuck)
		}
	}
}
