package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"

	"stackmill/stages/decode"
)

// opener is a decoder that calls a function to open a recording.
type opener struct {
	decode.Decoder
	open func() *decode.Recording
}

func (o opener) Open(context.Context, string) *decode.Recording { return o.open() }

func untold(*decode.Recording, []decode.MapEvent) {}

// A recording that was opened asynchronously is closed once: by the caller of take, or by close.
func TestAsyncOpen(t *testing.T) {
	closed, failure := 0, errors.New("closing failed")
	src := input{decoder: opener{open: func() *decode.Recording {
		return &decode.Recording{Close: func() error { closed++; return failure }}
	}}}
	a := startOpen(t.Context(), src, untold)
	rec, err := a.take()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.close(); err != nil || closed != 0 {
		t.Errorf("a recording that was taken was closed: %v", err)
	}
	if err := rec.Close(); !errors.Is(err, failure) || closed != 1 {
		t.Error(err, closed)
	}
	if err := startOpen(t.Context(), src, untold).close(); !errors.Is(err, failure) || closed != 2 {
		t.Error(err, closed)
	}
}

// take returns a panic of the decoder as an error.
func TestAsyncOpenPanics(t *testing.T) {
	a := startOpen(t.Context(), input{decoder: opener{open: func() *decode.Recording { panic("a mistake") }}}, untold)
	if err := a.close(); err != nil {
		t.Error(err)
	}
	var internal *InternalError
	if _, err := a.take(); !errors.As(err, &internal) || internal.Value != "a mistake" || !strings.Contains(string(internal.Stack), "asyncopen_test.go") {
		t.Error(err)
	}
}
