package structure

import (
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"

	"stackmill/schema"
	"stackmill/schema/parquetfile/rowreader"
	"stackmill/schema/storedir"
)

// OpenBatch returns the tables of a batch of a store, and a function that closes their files.
func OpenBatch(store string, b *storedir.Batch) (tables *rowreader.Files, closeAll func()) {
	var open []io.Closer
	tables = rowreader.NewFiles(func(t *schema.Table) (parquet.ReaderAtSeeker, error) {
		at := slices.IndexFunc(b.Files, func(f storedir.File) bool { return f.Table == t.Name })
		if at < 0 {
			return nil, nil
		}
		f, err := storedir.OpenFile(store, b.Files[at].Path)
		if err != nil {
			return nil, err
		}
		open = append(open, f) // Files calls this one at a time
		return f, nil
	})
	return tables, func() {
		for _, f := range open {
			_ = f.Close() // it was only read
		}
	}
}
