//go:build !cgo

package pipeline

import (
	"errors"
	"os"

	"stackmill/schema"
)

// A worker, which is built without cgo, does without what reads a store's tables: it is
// larger than all else.
type (
	tableFiles  struct{}
	tableReader struct{}
)

var errWorker = errors.New("a worker does not read tables: it needs the full stackmill")

func newTableFiles(func(*schema.Table) (*os.File, error)) *tableFiles { return &tableFiles{} }

// Reader fails.
func (*tableFiles) Reader(*schema.Table, []string) (*tableReader, error) { return nil, errWorker }

// Rows implements what reads tables. It is not called.
func (*tableReader) Rows(string, int64, int64) schema.RowReader { return errRows{errWorker} }
