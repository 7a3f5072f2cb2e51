package ordered

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

// Values are processed in order. After an error, a panic or the context's end they are dropped, and
// Add returns why.
func TestWorker(t *testing.T) {
	failure, ended := errors.New("it failed"), errors.New("it ended")
	for _, tt := range []struct {
		name string
		at   func(cancel context.CancelCauseFunc) error // called for value 3
		want error
	}{
		{"all", func(context.CancelCauseFunc) error { return nil }, nil},
		{"an error", func(context.CancelCauseFunc) error { return failure }, failure},
		{"a panic", func(context.CancelCauseFunc) error { panic(failure) }, failure},
		{"the context's end", func(cancel context.CancelCauseFunc) error { cancel(ended); return nil }, ended},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var done []int
		var dropped atomic.Int32
		w := NewWorker(ctx, 0, func(v int) error {
			done = append(done, v)
			if v == 3 {
				return tt.at(cancel)
			}
			return nil
		}, func(int) { dropped.Add(1) })
		var err error
		added := 0
		for ; added < 9 && err == nil; added++ {
			if err = w.Add(added); added == 3 && tt.want != nil {
				select { // wait until the goroutine has seen it
				case <-w.Failed():
				case <-ctx.Done():
				}
			}
		}
		if w.Wait(); tt.want == nil && len(done) != added {
			t.Errorf("%s: %d of %d values were done", tt.name, len(done), added)
		}
		if got := w.Err(); tt.want != nil && ctx.Err() == nil && !isCause(got, tt.want) || tt.want == nil && got != nil {
			t.Errorf("%s: failed with %v", tt.name, got)
		}
		never := make(chan struct{})
		if tt.want != nil && !isCause(w.WaitFor(never), tt.want) {
			t.Errorf("%s: WaitFor returns %v", tt.name, w.WaitFor(never))
		}
		closed := errors.Join(w.Close(), context.Cause(ctx))
		if again := errors.Join(w.Close(), context.Cause(ctx)); (again == nil) != (closed == nil) {
			t.Errorf("%s: closed again: %v, before: %v", tt.name, again, closed)
		}
		cancel(nil)
		want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
		if tt.want != nil {
			want = want[:4]
		}
		if !slices.Equal(done, want) || len(done)+int(dropped.Load()) != added {
			t.Errorf("%s: %d values were added, %v were done, %d dropped", tt.name, added, done, dropped.Load())
		}
		if tt.want == nil && (err != nil || closed != nil) || tt.want != nil && (!isCause(err, tt.want) || !isCause(closed, tt.want)) {
			t.Errorf("%s: Add returns %v, Close %v", tt.name, err, closed)
		}
	}
}

// isCause reports whether an error is cause, or the panic with cause.
func isCause(err, cause error) bool {
	return errors.Is(err, cause) || isPanic(err, cause)
}

// Without a goroutine, a value is processed when Add returns; all else is the same.
func TestInlineWorker(t *testing.T) {
	failure := errors.New("it failed")
	done, dropped := 0, 0
	w := NewInlineWorker(t.Context(), func(v int) error {
		done++
		if v == 1 {
			panic(failure)
		}
		return nil
	}, func(int) { dropped++ })
	for v := range 4 {
		if err := w.Add(v); (err == nil) != (v < 1) || err != nil && !isCause(err, failure) {
			t.Error(v, err)
		}
	}
	w.Wait()
	if done != 2 || dropped != 2 || !isCause(w.Err(), failure) || !isCause(w.Close(), failure) || !isCause(w.WaitFor(make(chan struct{})), failure) {
		t.Error(done, dropped, w.Err())
	}
}
