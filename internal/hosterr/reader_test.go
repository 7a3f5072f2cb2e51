package hosterr

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// Canceling the context ends reading, with the cause as a host error.
func TestReader(t *testing.T) {
	why := errors.New("a signal")
	ctx, cancel := context.WithCancelCause(t.Context())
	r := NewReader(ctx, strings.NewReader("text"))
	b := make([]byte, 2)
	if n, err := r.Read(b); n != 2 || err != nil {
		t.Error(n, err)
	}
	cancel(why)
	if b, err := io.ReadAll(r); len(b) > 0 || !errors.Is(err, why) || !Is(err) {
		t.Errorf("%q, %v", b, err)
	}
}
