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

// TemplateFile is the compressed template, in this package's sources.
const TemplateFile = "template.duckdb.zst"

// packed is the compressed template: making a catalog by statements takes ten times as long.
//
//go:embed template.duckdb.zst
var packed []byte

// same is a hash of what all catalogs have in common. It includes how macros read files, so that a
// catalog that reads them in another way counts as out of date.
var same = sync.OnceValue(func() uint64 {
	h := xxhash.New()
	_, _ = h.Write(packed) // it cannot fail
	note(h, ReadParquet(nil), fieldColumns([]Record{{"field": "a", "has_texts": true}, {"field": "b", "has_numbers": true}}, nil))
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

// Template makes the template: a database file with what all catalogs have in common, the catalog
// of an empty store.
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
	if err := change(ctx, path, func(conn *sql.Conn) error { return execute(ctx, conn, append(statements, described...)...) }); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// change changes the catalog at path: it runs `by` in one transaction. When it returns, the file is
// complete.
func change(ctx context.Context, path string, by func(*sql.Conn) error) (err error) {
	config := engineConfig{Limits: Limits{Threads: 1}}
	db, err := connect(config, []string{"ATTACH " + quote(path) + " AS " + catalogName}, useCatalog(nil))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := execute(ctx, conn, "BEGIN"); err != nil {
		return err
	}
	if err := by(conn); err != nil {
		return err
	}
	return execute(ctx, conn, "COMMIT", "CHECKPOINT")
}

// execute runs statements that this program has written, not SQL from users.
func execute(ctx context.Context, conn *sql.Conn, statements ...string) error {
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// Pack compresses a template to the content of TemplateFile.
func Pack(template []byte) ([]byte, error) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(template, nil), w.Close()
}

func writeCatalog(path string, d *definitions) error {
	template, err := unpacked()
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	if err := os.WriteFile(path, template, 0o666); err != nil { // os.CreateTemp would make a private file
		return err
	}
	ctx := context.Background()
	statements := append(d.changes(""), fmt.Sprintf("CREATE TABLE %s AS SELECT %s AS fingerprint", fingerprintTable, quote(d.fingerprint)))
	if d.hasEvents() {
		statements = append(statements, replaceEvents(nil, unreadableEvents))
	}
	err = change(ctx, path, func(conn *sql.Conn) error {
		if err := execute(ctx, conn, statements...); err != nil {
			return err
		}
		return d.fillBy(conn, catalogName)
	})
	if err == nil && d.hasEvents() {
		// An error leaves the macro of unreadable events.
		_ = change(ctx, path, func(conn *sql.Conn) error { return d.defineEvents(ctx, conn) })
	}
	return err
}
