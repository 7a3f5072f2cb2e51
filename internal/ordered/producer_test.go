package ordered

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// Values come in the order in which they are made, then the error; values that are never taken are
// dropped.
func TestProducer(t *testing.T) {
	failure := errors.New("failed")
	for _, want := range []error{nil, failure} {
		made, dropped := 0, 0
		ctx, cancel := context.WithCancelCause(t.Context())
		p := NewProducer(ctx, 2, func() (int, bool, error) {
			if made == 5 {
				return 0, false, want
			}
			made++
			return made, true, nil
		}, func(int) { dropped++ })
		var got []int
		v, more, err := p.Next()
		for ; more; v, more, err = p.Next() {
			got = append(got, v)
		}
		if !slices.Equal(got, []int{1, 2, 3, 4, 5}) || !errors.Is(err, want) {
			t.Error(got, err)
		}
		p.Close()
		cancel(nil)

		ended := errors.New("ended")
		ctx, cancel = context.WithCancelCause(t.Context())
		p = NewProducer(ctx, 1, func() (int, bool, error) { made++; return made, true, nil }, func(int) { dropped++ })
		cancel(ended)
		<-p.stopped.Done()
		if p.Close(); dropped == 0 || !errors.Is(p.stopped.err, ended) {
			t.Error(dropped, p.stopped.err)
		}
	}
}

// A Future's panic is its error; turns come one after the other.
func TestFutureAndTurns(t *testing.T) {
	if _, err := Start(func() (int, error) { panic("mistake") }).Wait(); !isPanic(err, "mistake") {
		t.Error(err)
	}
	if v, err := Start(func() (int, error) { return 7, nil }).Wait(); v != 7 || err != nil {
		t.Error(v, err)
	}
	var order []int
	turns := NewTurns(5)
	_ = ForEach(t.Context(), 5, 0, func(_ context.Context, i int) error {
		i = 4 - i
		<-turns[i].Come()
		order = append(order, i)
		if last := turns[i].End(); last != (i == 4) {
			t.Error(i, last)
		}
		return nil
	})
	if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
		t.Error(order)
	}
}

func isPanic(err error, value any) bool {
	var p *Panic
	return errors.As(err, &p) && p.Value == value
}
