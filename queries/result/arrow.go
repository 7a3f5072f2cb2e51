//go:build cgo

package result

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	duckdb "github.com/duckdb/duckdb-go/v2"
)

// Arrow writes the result of a statement as an Arrow IPC stream.
func Arrow(ctx context.Context, conn *sql.Conn, statement string, w io.Writer) error {
	return read(ctx, conn, statement, nil, func(reader array.RecordReader) error {
		out := ipc.NewWriter(w, ipc.WithSchema(reader.Schema()))
		for reader.Next() {
			if err := out.Write(reader.RecordBatch()); err != nil {
				return err
			}
		}
		if err := reader.Err(); err != nil {
			return err
		}
		return out.Close()
	})
}

// Batches gives the result of a statement to a function, in batches that are valid until it
// returns: many rows of numbers take a tenth of the time that scanning them takes.
func Batches(ctx context.Context, conn *sql.Conn, each func(arrow.RecordBatch) error, statement string, args ...any) error {
	return read(ctx, conn, statement, args, func(reader array.RecordReader) error {
		for reader.Next() {
			if err := each(reader.RecordBatch()); err != nil {
				return err
			}
		}
		return reader.Err()
	})
}

func read(ctx context.Context, conn *sql.Conn, statement string, args []any, use func(array.RecordReader) error) error {
	return conn.Raw(func(raw any) error {
		arrow, err := duckdb.NewArrowFromConn(raw.(driver.Conn))
		if err != nil {
			return err
		}
		reader, err := arrow.QueryContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		defer reader.Release()
		return use(reader)
	})
}
