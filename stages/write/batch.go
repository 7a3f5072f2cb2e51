// Package write is the last stage: it writes the tables of an experiment as Parquet
// files and commits them to a store.
package write

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"stackmill/schema"
	"stackmill/stages/relay"
	"stackmill/stages/rollup"
	"stackmill/storedir"
	"stackmill/tablefile"
)

// Batch is an attempt to write a batch. Write may be called concurrently for
// different tables.
type Batch struct {
	*storedir.Scratch
	store     string
	attempt   *storedir.Scratch // to commit it, nil before
	published []string          // files in their final places, which Abort removes

	effort tablefile.Effort
	rollup *rollup.Collector // nil: its rows are written as those of other tables
	sums   rollup.Sums

	mu     sync.Mutex
	closed bool
	tables map[string]*table
	facts  map[*schema.Table]*tablefile.Splitter
}

type table struct {
	schema *schema.Table
	file   *os.File
	hash   *xxhash.Digest
	w      *tablefile.Writer
	rows   int64

	completed bool
}

// Begin starts a batch in the store, which it creates if necessary. Commit adds its
// function_rollup and function_sums.
func Begin(store string) (*Batch, error) {
	b, err := BeginMerged(store)
	if err == nil {
		b.effort, b.rollup = tablefile.Quick, &rollup.Collector{}
	}
	return b, err
}

// BeginMerged starts a batch of the rows of other batches, all of whose tables are given
// to Write, but function_sums, which Commit adds.
func BeginMerged(store string) (*Batch, error) {
	s, err := storedir.NewStaging(store)
	if err != nil {
		return nil, err
	}
	return &Batch{Scratch: s, store: store, effort: tablefile.Thorough, tables: map[string]*table{}, facts: map[*schema.Table]*tablefile.Splitter{}}, nil
}

// Write appends rows to a table. The batch of rows stays the caller's.
func (b *Batch) Write(t *schema.Table, rows arrow.RecordBatch) error {
	if err := b.put(t, rows); err != nil {
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

// put appends rows to the files of a table.
func (b *Batch) put(t *schema.Table, rows arrow.RecordBatch) error {
	if t.Facts == nil {
		return b.append(t, rows)
	}
	if rows.NumRows() == 0 {
		return nil
	}
	b.mu.Lock()
	splitter := b.facts[t]
	if splitter == nil {
		splitter = tablefile.NewSplitter(t)
		b.facts[t] = splitter
	}
	b.mu.Unlock()
	own, facts, err := splitter.Split(rows)
	if err != nil {
		return fmt.Errorf("write table %s: %w", t.Name, err)
	}
	defer own.Release()
	if facts != nil {
		defer facts.Release()
		if err := b.append(t.Facts, facts); err != nil {
			return err
		}
	}
	return b.append(t.Own, own)
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
	out.w, err = tablefile.New(io.MultiWriter(f, out.hash), t, b.effort, storedir.VersionKey, schema.StoreVersion)
	if err != nil {
		return nil, errors.Join(out.failed(err), f.Close())
	}
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
	if err := b.rollUp(); err != nil {
		return err
	}
	if c.Files, err = b.finish(); err != nil {
		return err
	}
	if err := b.publish(c.Files); err != nil {
		return err
	}
	made, err := storedir.WriteCommit(b.store, b.attempt, c)
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
	return together(1+len(tables), encoders(), func(i int) error {
		if i > 0 {
			return tables[i-1].complete()
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

// finish completes the tables' files and flushes them to disk. All are flushed at once: one
// commit of the file system's journal serves many.
func (b *Batch) finish() ([]storedir.File, error) {
	names := slices.Sorted(maps.Keys(b.tables))
	files := make([]storedir.File, len(names))
	each := func(limit int, f func(i int, t *table) error) error {
		return together(len(names), limit, func(i int) error {
			return f(i, b.tables[names[i]])
		})
	}
	if err := each(encoders(), func(_ int, t *table) error { return t.complete() }); err != nil {
		return nil, err
	}
	err := each(len(names), func(i int, t *table) (err error) {
		files[i], err = t.flush(storedir.FilePath(names[i], filepath.Base(b.attempt.Dir)))
		return t.failed(err)
	})
	b.tables = nil
	return files, err
}

// publish moves the files to their places. They are moved one after the other, which takes
// less time than at once: folders are made and files renamed under locks.
func (b *Batch) publish(files []storedir.File) error {
	for _, f := range files {
		path := filepath.Join(b.store, filepath.FromSlash(f.Path))
		b.published = append(b.published, path)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.Rename(b.staged(f.Table), path)
		}
		if err != nil {
			return publishError(f, err)
		}
	}
	err := together(len(files), len(files), func(i int) error {
		if err := storedir.SyncDir(filepath.Dir(b.published[i])); err != nil {
			return publishError(files[i], err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// The tables' directories may be new, even if another process made them.
	return errors.Join(storedir.SyncDir(filepath.Join(b.store, storedir.TablesDir)), storedir.SyncDir(b.store))
}

func publishError(f storedir.File, err error) error {
	return fmt.Errorf("publish table %s: %w", f.Table, err)
}

// together runs f for n tables, so many of them at a time. Where each waits for the disk, that
// writes all of them in little more time than one. If one panics, together panics in the
// end, with a *relay.Panic.
func together(n, limit int, f func(i int) error) error {
	panics := make([]*relay.Panic, n)
	var g errgroup.Group
	g.SetLimit(limit)
	for i := range n {
		g.Go(func() error {
			defer func() {
				if p := recover(); p != nil {
					panics[i] = &relay.Panic{Value: p, Stack: debug.Stack()}
				}
			}()
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

// complete writes the rest of a table, once. Its file stays open.
func (t *table) complete() error {
	if t.completed {
		return nil
	}
	t.completed = true
	return t.failed(t.w.Close())
}

// failed says which table an error is about.
func (t *table) failed(err error) error {
	if err != nil {
		err = fmt.Errorf("write table %s: %w", t.schema.Name, err)
	}
	return err
}

// flush flushes a table's file to disk; path is where it will be.
func (t *table) flush(path string) (storedir.File, error) {
	err := t.file.Sync()
	info, serr := t.file.Stat()
	if err = errors.Join(err, serr, t.file.Close()); err != nil {
		return storedir.File{}, err
	}
	return storedir.File{
		Table:    t.schema.Name,
		Path:     path,
		Rows:     t.rows,
		Bytes:    info.Size(),
		Checksum: storedir.Checksum(t.hash.Sum64()),
	}, nil
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
