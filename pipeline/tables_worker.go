//go:build !cgo

package pipeline

import (
	"errors"
	"os"

	"stackmill/schema"
)

// A worker is built without cgo and without the reader of tables, which is larger than everything
// else.
type (
	tableFiles  struct{}
	tableReader struct{}
)

var errWorker = errors.New("a worker does not read tables: it needs the full stackmill")

func newTableFiles(func(*schema.Table) (*os.File, error)) *tableFiles { return &tableFiles{} }

// Reader fails.
func (*tableFiles) Reader(*schema.Table, []string) (*tableReader, error) { return nil, errWorker }

// Rows is not called.
func (*tableReader) Rows(string, int64, int64) schema.RowReader { return errRows{errWorker} }
