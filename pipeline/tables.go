//go:build cgo

package pipeline

import (
	"os"

	"github.com/apache/arrow-go/v18/parquet"

	"stackmill/schema"
	"stackmill/schema/parquetfile/rowreader"
)

// newTables returns a function that returns the reader of an experiment's tables by its id. open
// opens the file of a table.
func newTables(open func(*schema.Table) (*os.File, error)) func(id string) schema.TableReader {
	return rowreader.NewFiles(func(t *schema.Table) (parquet.ReaderAtSeeker, error) {
		f, err := open(t)
		if f == nil {
			return nil, err
		}
		return f, err
	}).Tables
}
