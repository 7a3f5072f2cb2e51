package mapped

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/cespare/xxhash/v2"

	"stackmill/fault"
)

// Every byte is passed once, in its order.
func TestPass(t *testing.T) {
	for _, size := range []int{0, 1, pieceSize - 1, pieceSize, pieceSize + 1, 3*pieceSize + 5} {
		m := mapFile(t, t.Context(), size)
		want, got := xxhash.Sum64(m.Data), xxhash.New()
		if err := m.Pass(func(piece []byte) { got.Write(piece) }); err != nil || got.Sum64() != want {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// What ends a mapping is an error wherever the data is read, also in machine code.
func TestPassEnds(t *testing.T) {
	why := errors.New("a signal")
	ctx, cancel := context.WithCancelCause(t.Context())
	hash := func(piece []byte) { xxhash.New().Write(piece) }
	m := mapFile(t, ctx, 2*pieceSize)
	err := m.Pass(func(piece []byte) {
		cancel(why)
		m.revoke()
		hash(piece)
	})
	if !errors.Is(err, why) || !fault.Is(err) {
		t.Error(err)
	}
	m = mapFile(t, t.Context(), 2*pieceSize)
	if err := os.Truncate(m.path, 100_000); err != nil {
		t.Fatal(err)
	}
	if err := m.Pass(hash); err == nil || fault.Is(err) {
		t.Error(err)
	}
}
