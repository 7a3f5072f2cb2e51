package source

import (
	"sync"

	"stackmill/internal/safefile"
)

// Texts keeps the texts of files, which experiments of the same programs share. It is
// safe for concurrent use.
type Texts struct {
	mu    sync.Mutex
	known map[safefile.Stamp]body
	bytes int
}

// maxKept bounds the bytes of texts that are kept.
const maxKept = 16 << 20

// NewTexts returns an empty Texts.
func NewTexts() *Texts { return &Texts{known: map[safefile.Stamp]body{}} }

// get returns what stands in a file, which read reads if that is not known.
func (t *Texts) get(at safefile.Stamp, read func() (body, error)) (body, error) {
	if t == nil || !at.Settled() {
		return read()
	}
	t.mu.Lock()
	b, known := t.known[at]
	t.mu.Unlock()
	if known {
		return b, nil
	}
	b, err := read()
	if err != nil || b.Bytes > maxKept/2 {
		return b, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes += b.Bytes; t.bytes > maxKept {
		clear(t.known)
		t.bytes = b.Bytes
	}
	t.known[at] = b
	return b, nil
}
