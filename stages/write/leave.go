package write

import "errors"

// errClosed is that a batch was given up.
var errClosed = errors.New("the batch was given up")

// Leave gives a batch up that somebody may still be writing, and removes what was
// written: whoever writes gets errors from now on. It is not for a batch that is
// being committed.
func (b *Batch) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		b.Remove()
	}
}
