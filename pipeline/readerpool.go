package pipeline

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/hosterr"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// readerPool shares the readers of batches of a store. It keeps the reader used last, because the
// next experiment is mostly of the same batch.
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
	users int // counted by readerPool

	read *tableFiles

	mu    sync.Mutex
	files map[string]*os.File // by table
}

func newBatchReader(store string, batch *storedir.Batch) *batchReader {
	r := &batchReader{store: store, batch: batch, files: map[string]*os.File{}}
	r.read = newTableFiles(r.file)
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

// tables returns a reader of the tables of an experiment.
func (r *batchReader) tables(id string) schema.TableReader {
	return func(t *schema.Table, from, n int64, columns ...string) schema.RowReader {
		table, err := r.read.Reader(t, columns)
		switch {
		case err != nil:
			return errRows{hosterr.New(fmt.Errorf("batch %s: %w", r.batch.Batch, err))}
		case table == nil:
			return errRows{}
		}
		return table.Rows(id, from, n)
	}
}

// errRows is an empty table, or one that cannot be read for a reason.
type errRows struct{ err error }

// Next implements schema.RowReader.
func (u errRows) Next() (arrow.RecordBatch, error) { return nil, u.err }

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
		if err == nil {
			r.files[t.Name] = f
		}
		return f, err
	}
	return nil, nil
}

// errMoved: another program has merged the batch into a larger one meanwhile.
var errMoved = errors.New("its files are gone: another program has merged it meanwhile (run the same command again)")
