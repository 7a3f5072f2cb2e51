// Package write is the last stage: it writes the tables of an experiment as Parquet
// files and commits them to a store.
package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/cespare/xxhash/v2"
	"golang.org/x/sys/unix"

	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/schema/parquetfile"
	"stackmill/schema/storedir"
	"stackmill/stages/rollup"
)

// Batch is an attempt to write a batch. Write may be called concurrently for
// different tables.
type Batch struct {
	*storedir.Scratch
	store     string
	name      string            // empty if it is known to Commit only
	attempt   *storedir.Scratch // to commit it, nil before
	published []string          // files in their final places, which Abort removes

	effort parquetfile.Effort
	rollup *rollup.Collector // nil: its rows are written as those of other tables
	sums   rollup.Sums

	mu     sync.Mutex
	closed bool
	tables map[string]*table
}

type table struct {
	schema *schema.Table
	file   *os.File
	hash   *xxhash.Digest
	w      *parquetfile.Writer
	rows   int64
	done   *storedir.File // nil before it is completed
}

// Begin starts a batch in the store, which it creates if necessary. Commit adds its
// function_rollup and function_sums.
func Begin(store string) (*Batch, error) {
	b, err := BeginMerged(store, "")
	if err == nil {
		b.effort, b.rollup = parquetfile.Quick, &rollup.Collector{}
	}
	return b, err
}

// BeginMerged starts a batch of the rows of other batches, all of whose tables are given
// to Write, but function_sums, which Commit adds. It will have that name.
func BeginMerged(store, name string) (*Batch, error) {
	s, err := storedir.NewStaging(store)
	if err != nil {
		return nil, err
	}
	return &Batch{Scratch: s, store: store, name: name, effort: parquetfile.Thorough, tables: map[string]*table{}}, nil
}

// Write appends rows to a table. The batch of rows stays the caller's.
func (b *Batch) Write(t *schema.Table, rows arrow.RecordBatch) error {
	if err := b.append(t, rows); err != nil {
		return err
	}
	if t == schema.FunctionRollup {
		b.sums.Add(rows)
	}
	if b.rollup != nil {
		if err := b.rollup.Add(t, rows); err != nil {
			return fmt.Errorf("roll up table %s: %w", t.Name, err)
		}
	}
	return nil
}

// append appends rows to the file of a table.
func (b *Batch) append(t *schema.Table, rows arrow.RecordBatch) error {
	b.mu.Lock()
	out, err := b.open(t)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	if err := out.w.Write(rows); err != nil {
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
	f, err := os.Create(b.staged(t.Name))
	if err != nil {
		return nil, err
	}
	out := &table{schema: t, file: f, hash: xxhash.New()}
	out.w, err = parquetfile.New(io.MultiWriter(f, out.hash), t, b.effort, storedir.VersionKey, schema.StoreVersion)
	if err != nil {
		return nil, errors.Join(out.failed(err), f.Close())
	}
	out.w.Name(b.name)
	b.tables[t.Name] = out
	return out, nil
}

// Commit finishes the files under the batch's name, moves them into the store and makes
// the batch exist. It closes the batch, whatever the result. The error is
// storedir.ErrExists if another attempt came first.
func (b *Batch) Commit(name string, c storedir.Commit) (err error) {
	defer b.Abort()
	c.Batch, c.StoreVersion = name, schema.StoreVersion
	if b.attempt, err = storedir.NewAttempt(b.store, name); err != nil {
		return err
	}
	for _, t := range b.tables {
		t.w.Name(name)
	}
	if err := b.rollUp(); err != nil {
		return err
	}
	if err := b.complete(); err != nil {
		return err
	}
	draft, err := b.flush(c)
	if err != nil {
		return err
	}
	made, err := draft.Commit()
	if made {
		b.published = nil
	}
	return err
}

// staged is where a table's file is until it is published.
func (b *Batch) staged(table string) string { return filepath.Join(b.Dir, table+".parquet") }

// rollUp adds the roll-up. The tables that it is made of are completed meanwhile, those first
// of which most waits: what takes long and begins late would have the others wait.
func (b *Batch) rollUp() error {
	tables := slices.SortedFunc(maps.Values(b.tables), func(x, y *table) int {
		return cmp.Or(cmp.Compare(y.w.Waiting(), x.w.Waiting()), cmp.Compare(x.schema.Name, y.schema.Name))
	})
	return ordered.ForEach(context.Background(), 1+len(tables), encoders(), func(_ context.Context, i int) error {
		if i > 0 {
			return b.completeTable(tables[i-1])
		}
		if b.rollup != nil {
			if err := b.rollup.Rows(b.Write); err != nil {
				return err
			}
		}
		return b.sums.Rows(b.Write)
	})
}

// encoders is how many tables are completed at a time: each that is encoded takes memory.
func encoders() int { return runtime.GOMAXPROCS(0) }

// complete completes all tables.
func (b *Batch) complete() error {
	tables := slices.Collect(maps.Values(b.tables))
	return ordered.ForEach(context.Background(), len(tables), encoders(), func(_ context.Context, i int) error { return b.completeTable(tables[i]) })
}

// completeTable writes the rest of a table, once, and moves its file to its place.
func (b *Batch) completeTable(t *table) error {
	if t.done != nil {
		return nil
	}
	if err := t.complete(storedir.FilePath(t.schema.Name, filepath.Base(b.attempt.Dir))); err != nil {
		return t.failed(err)
	}
	path := b.place(t.done)
	b.mu.Lock()
	b.published = append(b.published, path)
	b.mu.Unlock()
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = os.Rename(b.staged(t.schema.Name), path)
	}
	return publishError(t, err)
}

// place is where a file is in the store.
func (b *Batch) place(f *storedir.File) string {
	return filepath.Join(b.store, filepath.FromSlash(f.Path))
}

// flush flushes the tables' files to disk, their names, and the commit, whose files it adds:
// all at once, since one commit of the file system's journal serves many.
func (b *Batch) flush(c storedir.Commit) (draft *storedir.Draft, err error) {
	var flushes []func() error
	for _, name := range slices.Sorted(maps.Keys(b.tables)) {
		t := b.tables[name]
		c.Files = append(c.Files, *t.done)
		flushes = append(flushes,
			func() error { return t.failed(errors.Join(t.file.Sync(), t.file.Close())) },
			func() error { return publishError(t, storedir.SyncDir(filepath.Dir(b.place(t.done)))) })
	}
	b.tables = nil
	// The tables' directories may be new, even if another process made them.
	for _, dir := range []string{filepath.Join(b.store, storedir.TablesDir), b.store} {
		flushes = append(flushes, func() error { return storedir.SyncDir(dir) })
	}
	flushes = append(flushes, func() (err error) {
		draft, err = storedir.WriteDraft(b.store, b.attempt, c)
		return err
	})
	err = ordered.Run(flushes...)
	return draft, err
}

func publishError(t *table, err error) error {
	if err != nil {
		err = fmt.Errorf("publish table %s: %w", t.schema.Name, err)
	}
	return err
}

// complete writes the rest of a table, whose file will be at a path of the store. The file
// stays open.
func (t *table) complete(path string) error {
	if err := t.w.Close(); err != nil {
		return err
	}
	_ = unix.SyncFileRange(int(t.file.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // it only saves time
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	footer, err := storedir.FooterChecksum(t.file, info.Size())
	if err != nil {
		return err
	}
	t.done = &storedir.File{
		Table:    t.schema.Name,
		Path:     path,
		Rows:     t.rows,
		Bytes:    info.Size(),
		Checksum: storedir.Checksum(t.hash.Sum64()),
		Footer:   footer,
	}
	return nil
}

// failed says which table an error is about.
func (t *table) failed(err error) error {
	if err != nil {
		err = fmt.Errorf("write table %s: %w", t.schema.Name, err)
	}
	return err
}

// Abort removes what was written. After Commit it does nothing.
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
			b.attempt.Abandon()
			b.Abandon()
			return
		}
	}
	if b.attempt != nil {
		b.attempt.Remove()
	}
	b.Remove()
}
