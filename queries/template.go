package queries

import (
	"bytes"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"stackmill/queries/duckfile"
	"stackmill/schema"
	"stackmill/tempdir"
)

// TemplateFile is the file in this package's sources that has the template, packed.
const TemplateFile = "template.duckdb.zst"

// packed is what is the same in all catalogs, as Template returns it: to write a catalog takes
// no SQL engine then.
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

// template returns what is the same in all catalogs.
var template = sync.OnceValues(func() (*duckfile.Template, error) {
	file, err := unpacked()
	if err != nil {
		return nil, err
	}
	return duckfile.NewTemplate(file)
})

// Prepare makes what Publish needs of every store, in a millisecond or two: it is called while
// the caller waits for the disk.
func Prepare() { _, _ = template() } // Publish says what is wrong

func unpacked() ([]byte, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.DecodeAll(packed, nil)
}

// Template makes what is the same in all catalogs with the SQL engine: a database file, with
// holes where the macros of rows have their queries.
func Template(ctx context.Context) ([]byte, error) {
	temp, err := tempdir.Make("template")
	if err != nil {
		return nil, err
	}
	defer temp.Remove()
	path := filepath.Join(temp.Path, CatalogFile)
	if err := makeTemplate(ctx, path); err != nil {
		return nil, err
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := duckfile.NewTemplate(file)
	if err != nil {
		return nil, err
	}
	holes := map[string]string{}
	for _, t := range schema.Tables {
		holes[t.Name] = duckfile.Hole(t.Name)
	}
	var small bytes.Buffer // without what the engine has written over
	err = t.Write(&small, holes, nil)
	return small.Bytes(), err
}

// makeTemplate makes a database file of views and macros.
func makeTemplate(ctx context.Context, path string) (err error) {
	db, err := sql.Open("duckdb", "?"+access{Limits: Limits{Threads: 1}}.config("").Encode())
	if err != nil {
		return fmt.Errorf("duckdb: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	statements, err := (&definitions{}).all()
	if err != nil {
		return err
	}
	described, err := comments()
	if err != nil {
		return err
	}
	statements = append(statements, described...)
	for _, t := range schema.Tables {
		statements = append(statements, "CREATE OR REPLACE MACRO "+lateMacro(storedName(t), duckfile.Hole(t.Name)))
	}
	for _, t := range storeTables {
		statements = append(statements, "DROP TABLE "+t.name)
	}
	statements = slices.Concat([]string{"ATTACH " + quote(path) + " AS " + catalogName, "USE " + catalogName}, statements, []string{"CHECKPOINT"})
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%w in %.200q", err, statement)
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

// write writes the catalog's file.
func (d *definitions) write(w io.Writer) error {
	t, err := template()
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	queries := make(map[string]string, len(schema.Tables))
	for _, t := range schema.Tables {
		queries[t.Name] = rowsQuery(d.store, t, d.portions)
	}
	var tables []*duckfile.Table
	for _, s := range append(storeTables[:len(storeTables):len(storeTables)], fingerprintTable) {
		table, err := s.file(d)
		if err != nil {
			return err
		}
		tables = append(tables, table)
	}
	return t.Write(w, queries, tables)
}

// writeCatalog makes the catalog at path, where there is none.
func writeCatalog(path string, d *definitions) error {
	f, err := os.Create(path) // not a private file, as os.CreateTemp makes
	if err != nil {
		return err
	}
	return errors.Join(d.write(f), f.Close())
}
