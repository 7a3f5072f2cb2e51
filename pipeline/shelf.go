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

// shelves are those of a store. The one taken last stays open: the next experiment is of
// the same batch, most often.
type shelves struct {
	store string
	mu    sync.Mutex
	last  *shelf // nil before the first
}

// take returns the shelf of a batch, to be put back.
func (s *shelves) take(batch *storedir.Batch) *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil || s.last.batch != batch {
		s.drop(s.last)
		s.last = newShelf(s.store, batch)
		s.last.users++
	}
	s.last.users++
	return s.last
}

// put gives a shelf back.
func (s *shelves) put(shelf *shelf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(shelf)
}

// close closes the last shelf, once all are back.
func (s *shelves) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(s.last)
	s.last = nil
}

// drop closes a shelf that nobody has any more.
func (s *shelves) drop(shelf *shelf) {
	if shelf == nil {
		return
	}
	if shelf.users--; shelf.users == 0 {
		shelf.close()
	}
}

// shelf reads the tables of a batch of the store, for several experiments.
type shelf struct {
	store string
	batch *storedir.Batch
	users int // of shelves

	read *tableFiles

	mu    sync.Mutex
	files map[string]*os.File // by table
}

func newShelf(store string, batch *storedir.Batch) *shelf {
	s := &shelf{store: store, batch: batch, files: map[string]*os.File{}}
	s.read = newTableFiles(s.file)
	return s
}

func (s *shelf) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		f.Close()
	}
	clear(s.files)
}

// tables returns what reads the tables of an experiment.
func (s *shelf) tables(id string) schema.TableReader {
	return func(t *schema.Table, from, n int64, columns ...string) schema.RowReader {
		r, err := s.read.Reader(t, columns)
		switch {
		case err != nil:
			return unread{hosterr.New(fmt.Errorf("batch %s: %w", s.batch.Batch, err))}
		case r == nil:
			return unread{}
		}
		return r.Rows(id, from, n)
	}
}

// unread are no rows, for a reason.
type unread struct{ err error }

// Next implements schema.RowReader.
func (u unread) Next() (arrow.RecordBatch, error) { return nil, u.err }

// file opens the file of a table, nil if the batch has no rows of it.
func (s *shelf) file(t *schema.Table) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[t.Name]; f != nil {
		return f, nil
	}
	for _, file := range s.batch.Files {
		if file.Table != t.Name {
			continue
		}
		f, err := storedir.OpenFile(s.store, file.Path)
		if errors.Is(err, os.ErrNotExist) {
			err = errMoved
		}
		if err == nil {
			s.files[t.Name] = f
		}
		return f, err
	}
	return nil, nil
}

// errMoved says that another program has replaced a batch meanwhile.
var errMoved = errors.New("its files are gone: another program has merged it meanwhile (run the same command again)")
