package write

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"stackmill/schema"
)

// VersionKey is the key of the store format version in a Parquet footer.
const VersionKey = "stackmill.store_version"

// Batch is an attempt to write a batch. Write may be called concurrently for
// different tables.
type Batch struct {
	*scratch
	store, name string
	published   []string // files that are in their places, and may have to go again

	mu     sync.Mutex
	closed bool
	tables map[string]*table
}

type table struct {
	schema *schema.Table
	file   *os.File
	hash   *xxhash.Digest
	w      *pqarrow.FileWriter
	rows   int64
}

// Begin starts a batch in the store, which it creates if need be.
func Begin(store, name string) (*Batch, error) {
	for _, dir := range []string{TablesDir, CommitsDir, StagingDir} {
		if err := makeDir(filepath.Join(store, dir)); err != nil {
			return nil, fmt.Errorf("create store: %w", err)
		}
	}
	// A batch that is committed has the files of its name.
	s, err := newScratch(filepath.Join(store, StagingDir), name, func() bool {
		_, err := os.Lstat(commitPath(store, name))
		return !errors.Is(err, fs.ErrNotExist)
	})
	if err != nil {
		return nil, fmt.Errorf("create batch: %w", err)
	}
	return &Batch{scratch: s, store: store, name: name, tables: map[string]*table{}}, nil
}

// Write appends rows to a table. The batch of rows stays the caller's.
func (b *Batch) Write(t *schema.Table, rows arrow.RecordBatch) error {
	b.mu.Lock()
	out, err := b.open(t)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	if err := out.w.WriteBuffered(rows); err != nil {
		return fmt.Errorf("write table %s: %w", t.Name, err)
	}
	out.rows += rows.NumRows()
	return nil
}

func (b *Batch) open(t *schema.Table) (*table, error) {
	if b.closed {
		return nil, fmt.Errorf("write table %s: %w", t.Name, errClosed)
	}
	if out := b.tables[t.Name]; out != nil {
		return out, nil
	}
	f, err := os.Create(filepath.Join(b.dir, t.Name+fileSuffix))
	if err != nil {
		return nil, err
	}
	out := &table{schema: t, file: f, hash: xxhash.New()}
	out.w, err = pqarrow.NewFileWriter(t.Arrow(), io.MultiWriter(f, out.hash), t.Parquet(), pqarrow.DefaultWriterProps())
	if err == nil {
		err = out.w.AppendKeyValueMetadata(VersionKey, schema.StoreVersion)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write table %s: %w", t.Name, err), f.Close())
	}
	b.tables[t.Name] = out
	return out, nil
}

// Commit finishes the files, moves them into the store and makes the batch
// exist. Afterwards the batch is closed, whatever the result. The error is
// ErrExists when another attempt came first.
func (b *Batch) Commit(c Commit) error { return b.CommitAnew(Commit{}, c) }

// CommitAnew is Commit for an experiment that has an earlier batch, which stays
// when the new one would be the same.
func (b *Batch) CommitAnew(earlier, c Commit) error {
	defer b.Abort()
	c.Batch, c.StoreVersion = b.name, schema.StoreVersion
	files, err := b.finish()
	if err != nil {
		return err
	}
	c.Files = files
	if c.same(earlier) {
		return nil
	}
	if err := b.publish(files); err != nil {
		return err
	}
	made, err := writeCommit(b.store, b.dir, c)
	if made {
		b.published = nil
	}
	return err
}

// same reports whether another batch has the same content, for the same reasons.
func (c *Commit) same(o Commit) bool {
	return o.Batch != "" && c.Status == o.Status && c.State == o.State && c.Path == o.Path &&
		slices.EqualFunc(c.Files, o.Files, func(x, y File) bool { return x.Table == y.Table && x.Checksum == y.Checksum })
}

// finish flushes the tables' files to disk.
func (b *Batch) finish() ([]File, error) {
	names := make([]string, 0, len(b.tables))
	for name := range b.tables {
		names = append(names, name)
	}
	sort.Strings(names)
	files := make([]File, len(names))
	err := together(len(names), func(i int) (err error) {
		if files[i], err = b.tables[names[i]].finish(filepath.Base(b.dir)); err != nil {
			return fmt.Errorf("write table %s: %w", names[i], err)
		}
		return nil
	})
	b.tables = nil
	return files, err
}

// publish moves the files to their places.
func (b *Batch) publish(files []File) error {
	for _, f := range files {
		b.published = append(b.published, filepath.Join(b.store, filepath.FromSlash(f.Path)))
	}
	err := together(len(files), func(i int) error {
		dir := filepath.Dir(b.published[i])
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			err = os.Rename(filepath.Join(b.dir, files[i].Table+fileSuffix), b.published[i])
		}
		if err == nil {
			err = syncDir(dir)
		}
		if err != nil {
			return fmt.Errorf("publish table %s: %w", files[i].Table, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// The tables' directories may be new, also those that another process has made.
	return errors.Join(syncDir(filepath.Join(b.store, TablesDir)), syncDir(b.store))
}

// together runs f for all tables at once: each waits for the disk, which
// writes all of them in little more time than one. When one panics, so does
// together in the end.
func together(n int, f func(i int) error) error {
	panics := make([]any, n)
	var g errgroup.Group
	for i := range n {
		g.Go(func() error {
			defer func() { panics[i] = recover() }()
			return f(i)
		})
	}
	err := g.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
	return err
}

// fileSuffix ends the names of a table's files.
const fileSuffix = ".parquet"

// finish flushes a table's file of an attempt to disk.
func (t *table) finish(attempt string) (File, error) {
	err := t.w.Close() // writes the footer; the file itself stays open
	if err == nil {
		err = t.file.Sync()
	}
	info, serr := t.file.Stat()
	if err = errors.Join(err, serr, t.file.Close()); err != nil {
		return File{}, err
	}
	return File{
		Table:    t.schema.Name,
		Path:     TablesDir + "/" + t.schema.Name + "/" + attempt + fileSuffix,
		Rows:     t.rows,
		Bytes:    info.Size(),
		Checksum: fmt.Sprintf("%016x", t.hash.Sum64()),
	}, nil
}

// Abort removes what was written; after Commit it does nothing.
func (b *Batch) Abort() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tables {
		_ = t.file.Close() // the file is about to be removed
	}
	b.tables = nil
	if b.closed {
		return
	}
	b.closed = true
	for _, path := range b.published {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			_ = b.lock.Close() // Clean tries again
			return
		}
	}
	b.remove()
}
