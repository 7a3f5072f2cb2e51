package queries

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrTooLarge says that a result is larger than allowed.
var ErrTooLarge = errors.New("the result is too large")

// sizeLook is how often the size of a file is checked while the engine writes it.
const sizeLook = 20 * time.Millisecond

// CopyParquet writes the rows of an admitted SELECT to w, as a Parquet file. The engine writes the
// file in its own temporary directory, so that the query cannot choose its path. options are
// further options of COPY. The error is ErrTooLarge if the file has more than largest bytes; 0: no
// limit.
func (db *DB) CopyParquet(ctx context.Context, conn *sql.Conn, query string, largest int64, w io.Writer, options ...string) error {
	var dir string
	if err := conn.QueryRowContext(ctx, "SELECT current_setting('temp_directory')").Scan(&dir); err != nil {
		return err
	}
	if dir == "" {
		return errors.New("there is no temporary directory (set TMPDIR)")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // the engine makes it only when it spills
		return err
	}
	place, err := os.MkdirTemp(dir, "result-") // several may run at once
	if err != nil {
		return err
	}
	defer os.RemoveAll(place)
	path := filepath.Join(place, "result.parquet")
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if largest > 0 {
			Poll(ctx, sizeLook, cancel, ErrTooLarge, func() bool { return sizeOf(place) > largest })
		}
	}()
	defer func() { cancel(nil); <-watched }()
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("COPY (%s\n) TO %s (%s)", query, quote(path), strings.Join(append(options, "FORMAT parquet", "COMPRESSION zstd"), ", "))); err != nil {
		if context.Cause(ctx) == ErrTooLarge {
			err = ErrTooLarge
		}
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

// sizeOf returns the size of the files in a directory.
func sizeOf(dir string) (size int64) {
	list, _ := os.ReadDir(dir)
	for _, f := range list {
		if info, err := f.Info(); err == nil {
			size += info.Size()
		}
	}
	return size
}
