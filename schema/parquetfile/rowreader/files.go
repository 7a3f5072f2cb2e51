package rowreader

import (
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"

	"stackmill/schema"
)

// Files reads the tables of a batch. It keeps the row groups read last for the next experiment.
// It is safe for concurrent use.
type Files struct {
	open func(*schema.Table) (parquet.ReaderAtSeeker, error)

	mu      sync.Mutex
	readers map[string]*Reader
}

// NewFiles returns the tables of a batch. open returns the file of a table, nil if the batch has
// no rows of it; the caller closes the files afterwards.
func NewFiles(open func(*schema.Table) (parquet.ReaderAtSeeker, error)) *Files {
	return &Files{open: open, readers: map[string]*Reader{}}
}

// Tables returns the reader of an experiment's tables.
func (f *Files) Tables(experimentID string) schema.TableReader {
	return func(t *schema.Table, from, n int64, columns ...string) schema.RowReader {
		r, err := f.Reader(t, columns)
		if r == nil || err != nil {
			return errRows{err}
		}
		return r.Rows(experimentID, from, n)
	}
}

// errRows is an empty RowReader that returns err.
type errRows struct{ err error }

// Next implements schema.RowReader.
func (r errRows) Next() (arrow.RecordBatch, error) { return nil, r.err }

// Reader returns a reader of columns of a table, nil if the batch has no rows of it.
func (f *Files) Reader(t *schema.Table, columns []string) (*Reader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := t.Name + " " + strings.Join(columns, " ")
	if r := f.readers[key]; r != nil {
		return r, nil
	}
	file, err := f.open(t)
	if file == nil || err != nil {
		return nil, err
	}
	r, err := Open(file, t, columns...)
	if err == nil {
		f.readers[key] = r
	}
	return r, err
}
