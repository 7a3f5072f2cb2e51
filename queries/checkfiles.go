package queries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"stackmill/schema"
	"stackmill/schema/storedir"
)

// checkFiles checks every file that a commit names, on all processors. It includes the readable
// part of damaged commits. Files of the batches in before only have to exist with their sizes.
func (p *CheckReport) checkFiles(ctx context.Context, store string, c *storedir.Contents, now, before []storedir.Batch, o CheckOptions) error {
	batches := make([]namedFiles, 0, len(c.Batches)+len(c.Damaged))
	for _, b := range now {
		batches = append(batches, namedFiles{Commit: b.Commit, counts: true, check: checkFile})
	}
	for _, b := range before {
		batches = append(batches, namedFiles{Commit: b.Commit, counts: true, check: findFile})
	}
	for _, d := range c.Damaged {
		d.Commit.Batch = d.Batch
		batches = append(batches, namedFiles{Commit: d.Commit, check: checkFile})
	}
	if err := checkAll(ctx, store, batches, o); err != nil {
		return err
	}
	for _, b := range batches {
		wrong := false
		for i, f := range b.Files {
			p.Files++
			if err := b.errs[i]; err != nil {
				p.add(f.Path, "%v", err)
				wrong = true
				continue
			}
			p.Rows += f.Rows
			p.Bytes += f.Bytes
		}
		if wrong && b.counts {
			p.damaged = append(p.damaged, b.Batch)
		}
	}
	return nil
}

// namedFiles are the files that a commit names, and what is wrong with each.
type namedFiles struct {
	storedir.Commit
	counts bool // whether readers see the batch
	check  func(store string, c storedir.Commit, f storedir.File) error
	errs   []error
}

// checkAll checks the files of batches and sets their errs. It returns an error if something could
// not be checked.
func checkAll(ctx context.Context, store string, batches []namedFiles, o CheckOptions) error {
	total := 0
	for _, b := range batches {
		total += len(b.Files)
	}
	shown := &gauge{show: func(done, total int) { o.Progress("files", done, total) }, total: total}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(cmp.Or(o.Limits.Threads, runtime.GOMAXPROCS(0)), 1))
	for i := range batches {
		b := &batches[i]
		b.errs = make([]error, len(b.Files))
		g.Go(func() error {
			for k, f := range b.Files {
				if err := ctx.Err(); err != nil {
					return err
				}
				err := b.check(store, b.Commit, f)
				if err != nil && storedir.IsCache(store) { // the local copy of a store on S3 proves nothing about the store
					if perr := storedir.FetchVerified(store, []storedir.File{f}); perr == nil {
						err = b.check(store, b.Commit, f)
					} else if !errors.Is(perr, storedir.ErrDamaged) && !errors.Is(perr, fs.ErrNotExist) {
						return fmt.Errorf("%s: %w", f.Path, perr)
					}
				}
				if isInconclusive(err) {
					return fmt.Errorf("%s: %w", f.Path, err)
				}
				b.errs[k] = err
				shown.add()
			}
			return nil
		})
	}
	return g.Wait()
}

// gauge shows the progress of several goroutines together.
type gauge struct {
	show  func(done, total int)
	total int
	done  atomic.Int64
	mu    sync.Mutex // guards show
}

// add counts one more thing as done. It shows the new count, unless another goroutine is showing
// one now.
func (g *gauge) add() {
	g.done.Add(1)
	if g.mu.TryLock() {
		defer g.mu.Unlock()
		g.show(int(g.done.Load()), g.total)
	}
}

// findFile checks that a file exists with its committed size.
func findFile(store string, c storedir.Commit, f storedir.File) error {
	opened, err := openNamed(store, c, f)
	if err != nil {
		return err
	}
	defer opened.Close()
	info, err := opened.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() != f.Bytes:
		return fmt.Errorf("has %s, but %d were committed", Count(int(info.Size()), "byte"), f.Bytes)
	}
	return nil
}

// checkFile compares a file with its commit and its table's schema.
func checkFile(store string, c storedir.Commit, f storedir.File) error {
	t := schema.ByName(f.Table)
	if t == nil {
		return fmt.Errorf("belongs to the unknown table %q", f.Table)
	}
	opened, err := openNamed(store, c, f)
	if err != nil {
		return err
	}
	defer opened.Close()
	sum, size, err := checksum(opened)
	switch {
	case err != nil:
		return err
	case size != f.Bytes:
		return fmt.Errorf("has %s, but %d were committed", Count(int(size), "byte"), f.Bytes)
	case sum != f.Checksum:
		return fmt.Errorf("has checksum %s, but %s was committed", sum, f.Checksum)
	}
	return checkFooter(opened, t, f)
}

// openNamed opens a file that a commit names. It refuses paths that no intact commit can name.
func openNamed(store string, c storedir.Commit, f storedir.File) (*os.File, error) {
	if !storedir.IsFile(f, c.Batch) {
		return nil, fmt.Errorf("is not where files of table %s and batch %s belong", f.Table, c.Batch)
	}
	opened, err := storedir.OpenFile(store, f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		err = fmt.Errorf("is missing, but batch %s names it", c.Batch)
	case errors.Is(err, storedir.ErrNotRegular):
		err = storedir.ErrNotRegular
	}
	return opened, err
}

func checksum(f *os.File) (sum string, size int64, err error) {
	h := xxhash.New()
	size, err = io.Copy(h, f)
	return storedir.Checksum(h.Sum64()), size, err
}

func checkFooter(from *os.File, t *schema.Table, f storedir.File) error {
	r, err := file.NewParquetReader(from)
	if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	if n := r.NumRows(); n != f.Rows {
		return fmt.Errorf("has %s, but %d were committed", Count(int(n), "row"), f.Rows)
	}
	version := r.MetaData().KeyValueMetadata().FindValue(storedir.VersionKey)
	if version == nil || *version != schema.StoreVersion {
		return fmt.Errorf("does not have store format %s in its footer", schema.StoreVersion)
	}
	found, err := pqarrow.FromParquet(r.MetaData().Schema, nil, nil)
	if err != nil {
		return fmt.Errorf("has a schema that cannot be read: %w", err)
	}
	want := t.Stored()
	if found.NumFields() != want.NumFields() {
		return fmt.Errorf("has %s, but table %s has %d", Count(found.NumFields(), "column"), t.Name, want.NumFields())
	}
	for i, w := range want.Fields() {
		g := found.Field(i)
		if g.Name != w.Name || g.Type.String() != w.Type.String() || g.Nullable != w.Nullable {
			return fmt.Errorf("column %d is %s, but in table %s it is %s", i+1, g, t.Name, w)
		}
	}
	return nil
}

// fileListing lists the files in a store's directory, whatever its commits say.
type fileListing struct {
	files    []string // relative to the store, with slashes
	attempts storedir.Attempts
}

// listFiles lists the files of a store. Attempts are the ones to write batches, which may be
// incomplete.
func listFiles(store string) (*fileListing, error) {
	inv := &fileListing{}
	err := fs.WalkDir(os.DirFS(store), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != ".": // just removed
			return nil
		case err != nil:
			return err
		case d.IsDir() && (name == storedir.StagingDir || strings.HasPrefix(name, storedir.ScratchPrefix)):
			return fs.SkipDir
		case !d.IsDir():
			inv.files = append(inv.files, name)
		}
		return nil
	})
	if info, serr := os.Stat(filepath.Join(store, storedir.CommitsDir)); errors.Is(err, fs.ErrNotExist) || err == nil && (serr != nil || !info.IsDir()) {
		return nil, storedir.ErrNoStore
	}
	inv.attempts = storedir.FindAttempts(store)
	return inv, err
}

// checkExtraFiles reports the files that no commit names.
func (p *CheckReport) checkExtraFiles(store string, c *storedir.Contents, inv *fileListing) {
	known, open := named(c)
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(store, name))
		return err == nil
	}
	for _, name := range inv.files {
		dir, _, below := strings.Cut(name, "/")
		switch attempt := storedir.AttemptOf(name); {
		case known[name], inv.attempts.Living[attempt]:
		case dir == storedir.TablesDir && open[storedir.BatchOf(name)]:
		case dir == storedir.TablesDir && slices.Contains(inv.attempts.Abandoned, storedir.StagingDir+"/"+attempt):
			p.note(name, "was left by a killed ingest: the next one removes it")
		case !exists(name): // of an attempt that was just abandoned
		case below && (dir == storedir.TablesDir || dir == storedir.CommitsDir):
			p.add(name, "is in no commit of the store")
			p.extra = append(p.extra, name)
		case strings.HasPrefix(name, CatalogFile), name == storedir.JournalFile, isPlanFile(name), strings.HasPrefix(name, storedir.ScratchPrefix):
		default:
			p.note(name, "is not part of the store")
		}
	}
	for _, name := range inv.attempts.Abandoned {
		p.note(name, "was left by a killed program: the next ingest removes it")
	}
}

// isPlanFile reports whether a file belongs to the tasks of a cluster: plans/PLAN/CHUNK.json, the
// report of a chunk, or plans/PLAN/CHUNK/BATCH, an empty file that names a batch of it.
func isPlanFile(name string) bool {
	parts := strings.Split(name, "/")
	if len(parts) < 3 || len(parts) > 4 || parts[0] != storedir.PlansDir {
		return false
	}
	chunk, isReport := strings.CutSuffix(parts[2], ".json")
	_, err := strconv.ParseUint(chunk, 10, 32)
	return err == nil && isReport == (len(parts) == 3)
}

// named returns the files that commits name, including the commit files. open has the batches whose
// commits are unreadable, so that any of their files may be named.
func named(c *storedir.Contents) (files, open map[string]bool) {
	files, open = map[string]bool{}, map[string]bool{}
	add := func(d storedir.CommitFile) {
		files[d.Path()] = true
		for _, f := range d.Files {
			files[path.Clean(f.Path)] = true
		}
		if d.Err != nil {
			open[d.Batch] = true
		}
	}
	for _, b := range c.Batches {
		add(storedir.CommitFile{Commit: b.Commit, Batch: b.Batch})
	}
	for _, x := range c.Metadata {
		add(storedir.CommitFile{Commit: x, Batch: x.Batch})
	}
	for _, d := range c.Damaged {
		add(d)
	}
	for _, r := range c.Replaced {
		add(r.CommitFile)
	}
	return files, open
}
