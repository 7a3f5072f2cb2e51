package write

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"syscall"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"stackmill/schema"
)

// VersionKey is the key of the store format version in a Parquet footer.
const VersionKey = "stackmill.store_version"

// Batch is a batch that is being written. Write may be called concurrently for
// different tables.
type Batch struct {
	store, name, dir string
	lock             *os.File

	mu     sync.Mutex
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
	for _, dir := range []string{tablesDir, commitsDir, stagingDir} {
		if err := os.MkdirAll(filepath.Join(store, dir), 0o777); err != nil {
			return nil, fmt.Errorf("create store: %w", err)
		}
	}
	dir, err := os.MkdirTemp(filepath.Join(store, stagingDir), name+"-")
	if err != nil {
		return nil, fmt.Errorf("create batch: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("create batch: %w", err)
	}
	return &Batch{store: store, name: name, dir: dir, lock: lock, tables: map[string]*table{}}, nil
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
	if out := b.tables[t.Name]; out != nil {
		return out, nil
	}
	f, err := os.Create(filepath.Join(b.dir, t.Name+".parquet"))
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
// exist. Afterwards the batch is closed, whatever the result.
func (b *Batch) Commit(c Commit) error {
	defer b.Abort()
	c.Batch, c.StoreVersion = b.name, schema.StoreVersion
	names := make([]string, 0, len(b.tables))
	for name := range b.tables {
		names = append(names, name)
	}
	sort.Strings(names)
	c.Files = make([]File, len(names))
	err := together(names, func(i int, name string) (err error) {
		if c.Files[i], err = b.tables[name].finish(b.name); err != nil {
			return fmt.Errorf("write table %s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.tables = nil
	err = together(names, func(i int, name string) error {
		if err := b.publish(c.Files[i]); err != nil {
			return fmt.Errorf("publish table %s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return writeCommit(b.store, b.dir, c)
}

// together runs f for all tables at once: each waits for the disk, which
// writes all of them in little more time than one.
func together(names []string, f func(i int, name string) error) error {
	var g errgroup.Group
	for i, name := range names {
		g.Go(func() error { return f(i, name) })
	}
	return g.Wait()
}

// finish flushes a table's file of a batch to disk.
func (t *table) finish(batch string) (File, error) {
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
		Path:     tablesDir + "/" + t.schema.Name + "/" + batch + ".parquet",
		Rows:     t.rows,
		Bytes:    info.Size(),
		Checksum: fmt.Sprintf("%016x", t.hash.Sum64()),
	}, nil
}

func (b *Batch) publish(f File) error {
	to := filepath.Join(b.store, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(b.dir, f.Table+".parquet"), to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// Abort removes what was written; after Commit it does nothing.
func (b *Batch) Abort() {
	for _, t := range b.tables {
		_ = t.file.Close() // the file is about to be removed
	}
	b.tables = nil
	_ = os.RemoveAll(b.dir) // what stays is removed by Clean
	_ = b.lock.Close()
}

// lockDir locks a staging directory for the life of this process.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Clean removes staging directories whose process is gone.
func Clean(store string) error {
	root := filepath.Join(store, stagingDir)
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		f, err := os.Open(filepath.Join(dir, "lock"))
		if err != nil {
			continue // just being made, or just removed
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			err = os.RemoveAll(dir)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
