package write

import "os"

// Leave gives a batch up that somebody may still be writing, and removes what was
// written: whoever writes gets errors from now on. It is not for a batch that is
// being committed.
func (b *Batch) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = os.RemoveAll(b.dir) // what stays is removed by Clean
}
