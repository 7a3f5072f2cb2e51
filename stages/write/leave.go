package write

import "errors"

// errClosed says that a batch was given up.
var errClosed = errors.New("the batch was given up")

// Leave gives up a batch that another goroutine may still be writing, and removes what
// was written: further writes fail. The batch must not be in the middle of Commit.
func (b *Batch) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		b.Remove()
	}
}
