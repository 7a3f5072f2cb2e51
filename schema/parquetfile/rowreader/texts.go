package rowreader

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// Texts returns two columns of strings of a small file, by row. The file may be damaged.
func Texts(ctx context.Context, f parquet.ReaderAtSeeker, first, second string) (rows [][2]string, err error) {
	defer func() { // the library panics on some damaged files
		if p := recover(); p != nil {
			rows, err = nil, fmt.Errorf("reading it: %v", p)
		}
	}()
	pq, err := file.NewParquetReader(f)
	if err != nil {
		return nil, err
	}
	r, err := pqarrow.NewFileReader(pq, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	all, err := r.ReadTable(ctx)
	if err != nil {
		return nil, err
	}
	defer all.Release()
	rows = make([][2]string, all.NumRows())
	for i, name := range []string{first, second} {
		at := all.Schema().FieldIndices(name)
		if len(at) != 1 {
			return nil, fmt.Errorf("the file has no column %s", name)
		}
		n := 0
		for _, chunk := range all.Column(at[0]).Data().Chunks() {
			for k := range chunk.Len() {
				if rows[n][i], err = textAt(chunk, k); err != nil {
					return nil, fmt.Errorf("column %s: %w", name, err)
				}
				n++
			}
		}
	}
	return rows, nil
}

func textAt(column arrow.Array, k int) (string, error) {
	switch c := column.(type) {
	case *array.String:
		return c.Value(k), nil
	case *array.Dictionary:
		return textAt(c.Dictionary(), c.GetValueIndex(k))
	}
	return "", fmt.Errorf("its type is %s, but texts are expected", column.DataType())
}
