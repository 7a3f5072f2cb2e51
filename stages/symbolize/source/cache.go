package source

import (
	"sync"

	"stackmill/internal/safefile"
)

// TextCache keeps the texts of files, which experiments of the same programs share. It is
// safe for concurrent use.
type TextCache struct {
	mu    sync.Mutex
	texts map[safefile.Stamp]content
	bytes int
}

// maxCacheBytes bounds the bytes of texts that are kept.
const maxCacheBytes = 16 << 20

// NewTextCache returns an empty Texts.
func NewTextCache() *TextCache { return &TextCache{texts: map[safefile.Stamp]content{}} }

// get returns what stands in a file, which read reads if that is not known.
func (t *TextCache) get(at safefile.Stamp, read func() (content, error)) (content, error) {
	if t == nil || !at.Settled() {
		return read()
	}
	t.mu.Lock()
	b, known := t.texts[at]
	t.mu.Unlock()
	if known {
		return b, nil
	}
	b, err := read()
	if err != nil || b.Bytes > maxCacheBytes/2 {
		return b, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes += b.Bytes; t.bytes > maxCacheBytes {
		clear(t.texts)
		t.bytes = b.Bytes
	}
	t.texts[at] = b
	return b, nil
}
