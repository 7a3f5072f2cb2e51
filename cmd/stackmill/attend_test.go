package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"stackmill/internal/exit"
	"stackmill/queries/sandbox"
	"stackmill/queries/storetest"
)

func TestAttend(t *testing.T) {
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
		err, stuck := attend(test.ctx, test.timeout, test.memory, test.work)
		if !errors.Is(err, test.want) || err == nil != (test.want == nil) || stuck != test.stuck {
			t.Errorf("%s: %v, stuck %t", name, err, stuck)
		}
	}
}

// The temporary directory goes with the program, also when SQL does not stop, or
// is stopped by a signal.
func TestNothingIsLeft(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	for _, statement := range []string{"SELECT sleep_ms(600_000)", "SELECT length(lpad('x', 2_000_000_000, 'y'))", "SELECT count(*) FROM range(10_000_000) a, range(10_000_000) b WHERE a.range + b.range = -1"} {
		temp := t.TempDir()
		c := program(t, "query", "--store", store, "--threads", "1", statement)
		c.Env = append(os.Environ(), "TMPDIR="+temp)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for dirs, _ := os.ReadDir(temp); len(dirs) == 0; dirs, _ = os.ReadDir(temp) {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // most often it runs then
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		var ended *exec.ExitError
		if err := c.Wait(); !errors.As(err, &ended) || ended.ExitCode() != exit.Failed {
			t.Errorf("%s: %v", statement, err)
		}
		if dirs, _ := os.ReadDir(temp); len(dirs) > 0 {
			t.Errorf("%s: %s is left", statement, dirs[0].Name())
		}
	}
}
