package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

// Values are done in their order; after an error, a panic or the context's end they are
// dropped, and who hands over more is told.
func TestBeside(t *testing.T) {
	failure, ended := errors.New("it failed"), errors.New("it ended")
	for _, tt := range []struct {
		name string
		at   func(cancel context.CancelCauseFunc) error // done with value 3
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
		b := runBeside(ctx, 0, func(v int) error {
			done = append(done, v)
			if v == 3 {
				return tt.at(cancel)
			}
			return nil
		}, func(int) { dropped.Add(1) })
		var err error
		added := 0
		for ; added < 9 && err == nil; added++ {
			if err = b.add(added); added == 3 && tt.want != nil {
				select { // the goroutine has ended what follows from it
				case <-b.failed:
				case <-ctx.Done():
				}
			}
		}
		if b.wait(); tt.want == nil && len(done) != added {
			t.Errorf("%s: %d of %d values were done", tt.name, len(done), added)
		}
		if got := b.failure(); tt.want != nil && ctx.Err() == nil && !isCause(got, tt.want) || tt.want == nil && got != nil {
			t.Errorf("%s: failed with %v", tt.name, got)
		}
		never := make(chan struct{})
		if tt.want != nil && !isCause(b.until(never), tt.want) {
			t.Errorf("%s: until returns %v", tt.name, b.until(never))
		}
		closed := errors.Join(b.close(), context.Cause(ctx))
		if again := errors.Join(b.close(), context.Cause(ctx)); (again == nil) != (closed == nil) {
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
			t.Errorf("%s: add returns %v, close %v", tt.name, err, closed)
		}
	}
}

// isCause reports whether an error is another one, or the panic with it.
func isCause(err, cause error) bool {
	var internal *InternalError
	return errors.Is(err, cause) || errors.As(err, &internal) && internal.Value == cause
}
