package pipeline

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"stackmill/internal/hosterr"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// readerPool shares readers of batches of a store. It keeps the reader used last, because the next
// experiment is usually in the same batch.
type readerPool struct {
	store string
	mu    sync.Mutex
	last  *batchReader // nil before the first
}

// acquire returns the reader of a batch. The caller releases it.
func (p *readerPool) acquire(batch *storedir.Batch) *batchReader {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || p.last.batch != batch {
		p.unref(p.last)
		p.last = newBatchReader(p.store, batch)
		p.last.users++
	}
	p.last.users++
	return p.last
}

// release gives a reader back.
func (p *readerPool) release(r *batchReader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unref(r)
}

// close closes the last reader, once all others were released.
func (p *readerPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unref(p.last)
	p.last = nil
}

// unref closes a reader that has no users left.
func (p *readerPool) unref(r *batchReader) {
	if r == nil {
		return
	}
	if r.users--; r.users == 0 {
		r.close()
	}
}

// batchReader reads the tables of a batch of the store, for several experiments.
type batchReader struct {
	store string
	batch *storedir.Batch
	users int // number of users, counted by readerPool

	tables func(id string) schema.TableReader // returns a reader of an experiment's rows

	mu    sync.Mutex
	files map[string]*os.File // name of a table -> its open file
}

func newBatchReader(store string, batch *storedir.Batch) *batchReader {
	r := &batchReader{store: store, batch: batch, files: map[string]*os.File{}}
	r.tables = newTables(r.file)
	return r
}

func (r *batchReader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.files {
		f.Close()
	}
	clear(r.files)
}

// file opens the file of a table; nil if the batch has no rows of it.
func (r *batchReader) file(t *schema.Table) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.files[t.Name]; f != nil {
		return f, nil
	}
	for _, file := range r.batch.Files {
		if file.Table != t.Name {
			continue
		}
		f, err := storedir.OpenFile(r.store, file.Path)
		if errors.Is(err, os.ErrNotExist) {
			err = errMoved
		}
		if err != nil {
			return nil, hosterr.New(fmt.Errorf("batch %s: %w", r.batch.Batch, err))
		}
		r.files[t.Name] = f
		return f, nil
	}
	return nil, nil
}

// errMoved: another program has merged the batch into a larger one meanwhile.
var errMoved = errors.New("its files are gone: another program has merged it meanwhile (run the same command again)")
