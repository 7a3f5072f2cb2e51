package result

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	duckdb "github.com/duckdb/duckdb-go/v2"
)

// Arrow writes the result of a statement as an Arrow IPC stream.
func Arrow(ctx context.Context, conn *sql.Conn, statement string, w io.Writer) error {
	return conn.Raw(func(raw any) error {
		arrow, err := duckdb.NewArrowFromConn(raw.(driver.Conn))
		if err != nil {
			return err
		}
		reader, err := arrow.QueryContext(ctx, statement)
		if err != nil {
			return err
		}
		defer reader.Release()
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
