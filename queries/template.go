package queries

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"stackmill/internal/tempdir"
)

// TemplateFile is the file in this package's sources that has the template, packed.
const TemplateFile = "template.duckdb.zst"

// packed is what is the same in all catalogs, as Template returns it: to make a catalog of
// statements alone takes the SQL engine ten times as long.
//
//go:embed template.duckdb.zst
var packed []byte

// same is a hash of what is the same in all catalogs, and of how their macros read files:
// a catalog that reads them otherwise is another one.
var same = sync.OnceValue(func() uint64 {
	h := xxhash.New()
	_, _ = h.Write(packed) // it cannot fail
	note(h, ReadParquet(nil))
	return h.Sum64()
})

func unpacked() ([]byte, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.DecodeAll(packed, nil)
}

// Template makes what is the same in all catalogs: a database file, the catalog of an empty store.
func Template(ctx context.Context) ([]byte, error) {
	temp, err := tempdir.Make("template")
	if err != nil {
		return nil, err
	}
	defer temp.Remove()
	path := filepath.Join(temp.Path, CatalogFile)
	statements, err := (&definitions{}).all()
	if err != nil {
		return nil, err
	}
	described, err := comments()
	if err != nil {
		return nil, err
	}
	if err := change(ctx, path, func(conn *sql.Conn) error { return execute(ctx, conn, append(statements, described...)) }); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// change has the engine change the catalog at path in one transaction. The file is complete
// when it returns.
func change(ctx context.Context, path string, by func(*sql.Conn) error) (err error) {
	may := access{Limits: Limits{Threads: 1}}
	db, err := connect(may, []string{"ATTACH " + quote(path) + " AS " + catalogName}, (&sight{}).use)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := execute(ctx, conn, []string{"BEGIN"}); err != nil {
		return err
	}
	if err := by(conn); err != nil {
		return err
	}
	return execute(ctx, conn, []string{"COMMIT", "CHECKPOINT"})
}

// execute runs statements of ours.
func execute(ctx context.Context, conn *sql.Conn, statements []string) error {
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// Pack makes of a template what template.duckdb.zst has.
func Pack(template []byte) ([]byte, error) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(template, nil), w.Close()
}

// writeCatalog makes the catalog at path, where there is none.
func writeCatalog(path string, d *definitions) error {
	template, err := unpacked()
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	if err := os.WriteFile(path, template, 0o666); err != nil { // not a private file, as os.CreateTemp makes
		return err
	}
	ctx := context.Background()
	return change(ctx, path, func(conn *sql.Conn) error {
		marked := fmt.Sprintf("CREATE TABLE %s AS SELECT %s AS fingerprint", fingerprintTable, quote(d.fingerprint))
		if err := execute(ctx, conn, append(d.changes(""), marked)); err != nil {
			return err
		}
		return d.fillBy(conn, catalogName)
	})
}
