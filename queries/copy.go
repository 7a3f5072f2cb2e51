package queries

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CopyParquet writes the rows of an admitted SELECT as a Parquet file to w, by way of
// the engine's own temporary directory: the query does not name the file.
func (db *DB) CopyParquet(ctx context.Context, conn *sql.Conn, query string, w io.Writer) error {
	var dir string
	if err := conn.QueryRowContext(ctx, "SELECT current_setting('temp_directory')").Scan(&dir); err != nil {
		return err
	}
	if dir == "" {
		return errors.New("there is no temporary directory (set TMPDIR)")
	}
	path := filepath.Join(dir, "result.parquet")
	defer os.Remove(path)
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("COPY (%s\n) TO %s (FORMAT parquet, COMPRESSION zstd)", query, quote(path))); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
