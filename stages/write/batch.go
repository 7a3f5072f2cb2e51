// Package write is the last stage: it writes an experiment's tables as Parquet files, and commits
// them to a store.
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

// Batch is a batch that is being written. Write may be called concurrently for different tables.
type Batch struct {
	*storedir.Scratch
	store     string
	name      string            // empty until Commit, unless given before
	attempt   *storedir.Scratch // the folder that Commit writes, nil before
	published []string          // files at their final paths, which Abort removes

	effort parquetfile.Effort
	rollup *rollup.Collector // nil: Write gets the roll-up's rows
	sums   rollup.Sums

	mu     sync.Mutex
	closed bool
	tables map[string]*tableFile
}

type tableFile struct {
	schema *schema.Table
	file   *os.File
	hash   *xxhash.Digest
	w      *parquetfile.Writer
	rows   int64
	done   *storedir.File // nil until the table is complete
}

// Begin starts a batch in a store, and creates the store if necessary. Pass the rows of all tables
// to Write, except function_rollup and function_sums: Commit adds these.
func Begin(store string) (*Batch, error) {
	b, err := BeginMerged(store, "")
	if err == nil {
		b.effort, b.rollup = parquetfile.Quick, &rollup.Collector{}
	}
	return b, err
}

// BeginMerged starts a batch with this name, for the merged rows of other batches. Pass the rows of
// all tables to Write, except function_sums: Commit adds it.
func BeginMerged(store, name string) (*Batch, error) {
	s, err := storedir.NewStaging(store)
	if err != nil {
		return nil, err
	}
	return &Batch{Scratch: s, store: store, name: name, effort: parquetfile.Thorough, tables: map[string]*tableFile{}}, nil
}

// Write appends rows to a table. It does not retain the record batch.
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

func (b *Batch) open(t *schema.Table) (*tableFile, error) {
	if b.closed {
		return nil, fmt.Errorf("write table %s: %w", t.Name, errClosed)
	}
	if out := b.tables[t.Name]; out != nil {
		return out, nil
	}
	f, err := os.Create(b.stagedPath(t.Name))
	if err != nil {
		return nil, err
	}
	out := &tableFile{schema: t, file: f, hash: xxhash.New()}
	out.w, err = parquetfile.New(io.MultiWriter(f, out.hash), t, b.effort, storedir.VersionKey, schema.StoreVersion)
	if err != nil {
		return nil, errors.Join(out.wrapError(err), f.Close())
	}
	out.w.SetBatch(b.name)
	b.tables[t.Name] = out
	return out, nil
}

// Commit writes the batch's name into the files, moves them into the store and commits the batch.
// It closes the batch, whatever the result. The error is storedir.ErrExists if another process has
// committed a batch of that name.
func (b *Batch) Commit(name string, c storedir.Commit) (err error) {
	defer b.Abort()
	c.Batch, c.StoreVersion = name, schema.StoreVersion
	if b.attempt, err = storedir.NewAttempt(b.store, name); err != nil {
		return err
	}
	for _, t := range b.tables {
		t.w.SetBatch(name)
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

// stagedPath returns the path at which a table's file is written, before it is moved to its final
// path.
func (b *Batch) stagedPath(table string) string { return filepath.Join(b.Dir, table+".parquet") }

// rollUp writes the tables of the roll-up. Meanwhile it completes the other tables, beginning with
// the largest, to finish early.
func (b *Batch) rollUp() error {
	tables := slices.SortedFunc(maps.Values(b.tables), func(x, y *tableFile) int {
		return cmp.Or(cmp.Compare(y.w.Pending(), x.w.Pending()), cmp.Compare(x.schema.Name, y.schema.Name))
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

// encoders returns how many tables may be completed at the same time. More would take more memory.
func encoders() int { return runtime.GOMAXPROCS(0) }

// complete completes the tables that are not complete yet.
func (b *Batch) complete() error {
	tables := slices.Collect(maps.Values(b.tables))
	return ordered.ForEach(context.Background(), len(tables), encoders(), func(_ context.Context, i int) error { return b.completeTable(tables[i]) })
}

// completeTable writes the rest of a table and moves its file to its final path, unless this was
// done before.
func (b *Batch) completeTable(t *tableFile) error {
	if t.done != nil {
		return nil
	}
	if err := t.complete(storedir.FilePath(t.schema.Name, filepath.Base(b.attempt.Dir))); err != nil {
		return t.wrapError(err)
	}
	path := b.finalPath(t.done)
	b.mu.Lock()
	b.published = append(b.published, path)
	b.mu.Unlock()
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = os.Rename(b.stagedPath(t.schema.Name), path)
	}
	return publishError(t, err)
}

// finalPath returns the path that a file has in the store.
func (b *Batch) finalPath(f *storedir.File) string {
	return filepath.Join(b.store, filepath.FromSlash(f.Path))
}

// flush adds the files to the commit c, and writes c as a draft. It syncs the files, their
// directories and the draft concurrently: one commit of the file system's journal then serves many
// of them.
func (b *Batch) flush(c storedir.Commit) (draft *storedir.Draft, err error) {
	var flushes []func() error
	for _, name := range slices.Sorted(maps.Keys(b.tables)) {
		t := b.tables[name]
		c.Files = append(c.Files, *t.done)
		flushes = append(flushes,
			func() error { return t.wrapError(errors.Join(t.file.Sync(), t.file.Close())) },
			func() error { return publishError(t, storedir.SyncDir(filepath.Dir(b.finalPath(t.done)))) })
	}
	b.tables = nil
	// These directories may be new, if only because another process has just created them.
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

func publishError(t *tableFile, err error) error {
	if err != nil {
		err = fmt.Errorf("publish table %s: %w", t.schema.Name, err)
	}
	return err
}

// complete writes the rest of a table, and describes the file in t.done. path is where the file
// will be in the store. The file stays open.
func (t *tableFile) complete(path string) error {
	if err := t.w.Close(); err != nil {
		return err
	}
	_ = unix.SyncFileRange(int(t.file.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // only to save time
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

// wrapError adds the table's name to an error.
func (t *tableFile) wrapError(err error) error {
	if err != nil {
		err = fmt.Errorf("write table %s: %w", t.schema.Name, err)
	}
	return err
}

// Abort removes all files of the batch. After Commit it does nothing.
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

// errClosed is the error of writes to a batch after Abort or Leave.
var errClosed = errors.New("the batch was given up")

// Leave gives up a batch that another goroutine may still be writing: it removes the files, and
// further writes fail. It must not be called during Commit.
func (b *Batch) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		b.Remove()
	}
}
