package mapped

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"github.com/cespare/xxhash/v2"

	"stackmill/fault"
)

// passed is what was passed of a part.
type passed struct{ content []byte }

func (p *passed) add(piece []byte, first bool) {
	if first {
		p.content = nil
	}
	p.content = append(p.content, piece...)
}

// Every byte is passed once, in its order, by however many workers.
func TestPass(t *testing.T) {
	const part = 2 * pieceSize
	for _, size := range []int{0, 1, pieceSize - 1, pieceSize, part, part + 1, 4*part + 5} {
		m := mapFile(t, t.Context(), size)
		for _, workers := range []int{1, 3} {
			var got []byte
			err := Pass(m, workers, part, func(piece []byte, first bool, to *passed) { to.add(piece, first) }, func(p *passed) { got = append(got, p.content...) })
			if err != nil || !bytes.Equal(got, m.Data) {
				t.Errorf("%d bytes, %d workers: %v", size, workers, err)
			}
		}
	}
}

// What ends a mapping is an error wherever the data is read, also in machine code.
func TestPassEnds(t *testing.T) {
	why := errors.New("a signal")
	ctx, cancel := context.WithCancelCause(t.Context())
	hash := func(piece []byte, _ bool, _ *passed) { xxhash.New().Write(piece) }
	m := mapFile(t, ctx, 2*pieceSize)
	err := Pass(m, 2, pieceSize, func(piece []byte, first bool, to *passed) {
		cancel(why)
		m.revoke()
		hash(piece, first, to)
	}, func(*passed) {})
	if !errors.Is(err, why) || !fault.Is(err) {
		t.Error(err)
	}
	for _, workers := range []int{1, 2} {
		m = mapFile(t, t.Context(), 4*pieceSize)
		if err := os.Truncate(m.path, 100_000); err != nil {
			t.Fatal(err)
		}
		if err := Pass(m, workers, pieceSize, hash, func(*passed) {}); err == nil || fault.Is(err) {
			t.Error(err)
		}
	}
}
