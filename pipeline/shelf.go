package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/fault"
	"stackmill/schema"
	"stackmill/stages/decode/kept"
	"stackmill/storedir"
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

	mu      sync.Mutex
	files   map[string]*os.File // by table
	readers map[string]*tableReader
	facts   map[*schema.Table]*tableFacts
}

func newShelf(store string, batch *storedir.Batch) *shelf {
	return &shelf{store: store, batch: batch, files: map[string]*os.File{}, readers: map[string]*tableReader{}, facts: map[*schema.Table]*tableFacts{}}
}

func (s *shelf) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		f.Close()
	}
	clear(s.files)
	clear(s.readers)
	clear(s.facts)
}

// tables returns what reads the tables of an experiment.
func (s *shelf) tables(id string) kept.Tables {
	return func(t *schema.Table, from, n int64, columns ...string) kept.Rows {
		r, err := s.reader(t, columns)
		switch {
		case err != nil:
			return unread{fault.New(fmt.Errorf("batch %s: %w", s.batch.Batch, err))}
		case r == nil:
			return unread{}
		}
		return r.Rows(id, from, n)
	}
}

// unread are no rows, for a reason.
type unread struct{ err error }

// Next implements kept.Rows.
func (u unread) Next() (arrow.RecordBatch, error) { return nil, u.err }

// reader returns the reader of columns of a table, nil if the batch has no rows of it.
func (s *shelf) reader(t *schema.Table, columns []string) (*tableReader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := t.Name + " " + strings.Join(columns, " ")
	if r := s.readers[key]; r != nil {
		return r, nil
	}
	f, err := s.file(t)
	if f == nil || err != nil {
		return nil, err
	}
	var facts *tableFacts
	if t.Facts != nil {
		if facts, err = s.factsOf(t); err != nil {
			return nil, err
		}
	}
	r, err := openTable(f, t, facts, columns...)
	if err != nil {
		return nil, err
	}
	s.readers[key] = r
	return r, nil
}

// factsOf returns the facts of a table that has them.
func (s *shelf) factsOf(t *schema.Table) (*tableFacts, error) {
	if facts := s.facts[t]; facts != nil {
		return facts, nil
	}
	f, err := s.file(t.Facts)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, fmt.Errorf("batch %s has no file of table %s", s.batch.Batch, t.Facts.Name)
	}
	facts, err := readFacts(context.Background(), f, t)
	if err == nil {
		s.facts[t] = facts
	}
	return facts, err
}

func (s *shelf) file(t *schema.Table) (*os.File, error) {
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
