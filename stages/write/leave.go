package write

import "errors"

// errClosed says that the batch was given up.
var errClosed = errors.New("the batch was given up")

// Leave gives up a batch that another goroutine may still be writing: it removes the files, and
// further writes fail. It must not be called during Commit.
func (b *Batch) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		b.Remove()
	}
}
