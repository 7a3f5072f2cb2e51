//go:build cgo

package result

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
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

// Batches passes the result of a statement to each in record batches, which are valid only during
// the call. For many rows of numbers this takes a tenth of the time of sql.Rows.Scan.
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

// Scan runs a statement that reads record batches as a view, which Scan makes in the connection's
// current schema. The engine reads columns of numbers without converting each row.
func Scan(ctx context.Context, conn *sql.Conn, view string, schema *arrow.Schema, rows []arrow.RecordBatch, statement string) error {
	reader, err := array.NewRecordReader(schema, rows)
	if err != nil {
		return err
	}
	defer reader.Release()
	return conn.Raw(func(raw any) error {
		engine, err := duckdb.NewArrowFromConn(raw.(driver.Conn))
		if err != nil {
			return err
		}
		release, err := engine.RegisterView(reader, view)
		if err != nil {
			return err
		}
		defer release()
		exec := raw.(driver.ExecerContext)
		_, err = exec.ExecContext(ctx, statement, nil)
		_, dropped := exec.ExecContext(context.WithoutCancel(ctx), "DROP VIEW "+view, nil)
		return errors.Join(err, dropped)
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
