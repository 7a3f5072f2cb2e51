//go:build !cgo

package pipeline

import (
	"errors"
	"os"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
)

// newTables returns readers that fail: a worker does not resymbolize. It is built without cgo and
// without the Parquet reader, which would be larger than everything else.
func newTables(func(*schema.Table) (*os.File, error)) func(string) schema.TableReader {
	return func(string) schema.TableReader {
		return func(*schema.Table, int64, int64, ...string) schema.RowReader { return noTables{} }
	}
}

type noTables struct{}

// Next implements schema.RowReader.
func (noTables) Next() (arrow.RecordBatch, error) {
	return nil, errors.New("the worker does not read tables: use the full stackmill")
}
