package write

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stackmill/internal/ordered"
)

func mistaken() { panic("a mistake") }

// A panic beside others is the caller's, who can recover.
func TestTogether(t *testing.T) {
	failed := errors.New("failed")
	if err := together(3, 3, func(i int) error { return map[int]error{1: failed}[i] }); !errors.Is(err, failed) {
		t.Error(err)
	}
	defer func() {
		p, ok := recover().(*ordered.Panic)
		if !ok || p.Value != "a mistake" || !strings.Contains(string(p.Stack), "mistaken") {
			t.Error(p)
		}
	}()
	_ = together(3, 3, func(i int) error {
		if i == 1 {
			mistaken()
		}
		return nil
	})
}

// No more run at a time than the limit allows, whatever becomes of those before.
func TestTogetherLimit(t *testing.T) {
	const n, limit = 20, 2
	var running, most, begun atomic.Int64
	defer func() {
		if recover() == nil || begun.Load() != n || most.Load() > limit {
			t.Errorf("%d of %d were begun, %d at a time", begun.Load(), n, most.Load())
		}
	}()
	_ = together(n, limit, func(int) error {
		defer running.Add(-1)
		begun.Add(1)
		now := running.Add(1)
		for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
		}
		time.Sleep(time.Millisecond) // so that others would begin
		mistaken()
		return nil
	})
}
