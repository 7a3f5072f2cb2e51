package source

import (
	"sync"

	"stackmill/internal/safefile"
)

// TextCache caches the texts of files for experiments of the same programs. It is safe for
// concurrent use.
type TextCache struct {
	mu    sync.Mutex
	texts map[safefile.Stamp]content
	bytes int
}

// maxCacheBytes bounds the bytes of the cached texts.
const maxCacheBytes = 16 << 20

// NewTextCache returns an empty cache.
func NewTextCache() *TextCache { return &TextCache{texts: map[safefile.Stamp]content{}} }

// get returns the content of a file. It calls read if the content is not cached.
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
