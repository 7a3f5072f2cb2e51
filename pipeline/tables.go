//go:build cgo

package pipeline

import (
	"os"

	"github.com/apache/arrow-go/v18/parquet"

	"stackmill/schema"
	"stackmill/schema/parquetfile/rowreader"
)

// tableFiles reads a store's tables, for Resymbolize.
type tableFiles = rowreader.Files

func newTableFiles(open func(*schema.Table) (*os.File, error)) *tableFiles {
	return rowreader.NewFiles(func(t *schema.Table) (parquet.ReaderAtSeeker, error) {
		f, err := open(t)
		if f == nil {
			return nil, err
		}
		return f, err
	})
}
