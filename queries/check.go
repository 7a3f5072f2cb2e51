package queries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/cespare/xxhash/v2"
	duckdb "github.com/duckdb/duckdb-go/v2"

	"stackmill/fault"
	"stackmill/schema"
	"stackmill/stages/infile"
	"stackmill/storedir"
)

// Proof is what a check looked at and what it found.
type Proof struct {
	Experiments int       `json:"experiments"`
	Batches     int       `json:"batches"`
	Files       int       `json:"files"`
	Rows        int64     `json:"rows"`
	Bytes       int64     `json:"bytes"`
	Keys        int       `json:"keys"`
	Invariants  int       `json:"invariants"`
	Wrong       []Finding `json:"wrong"`
	// Notes are about what a killed ingest may leave, and what the next ingest or
	// reader puts in order.
	Notes []Finding `json:"notes"`

	damaged []string // batches that must be ingested again
	extra   []string // files that nothing names, relative to the store
}

// Finding is one thing that was found.
type Finding struct {
	Where string `json:"where"`
	What  string `json:"what"`
}

func (f Finding) String() string { return f.Where + ": " + f.What }

func (p *Proof) add(where, format string, args ...any) {
	p.Wrong = append(p.Wrong, Finding{where, fmt.Sprintf(format, args...)})
}

func (p *Proof) note(where, format string, args ...any) {
	p.Notes = append(p.Notes, Finding{where, fmt.Sprintf(format, args...)})
}

// Check proves a store: that every commit and committed file is as it was
// written, that there are no other files, and, unless files are damaged, that every
// key is unique and every view's invariants hold. progress, if not nil, is called with
// what is being looked at. The error says why a store could not be checked; the proof
// then has what was found before. Nothing is written to the store.
func Check(ctx context.Context, store string, progress func(what string, done, total int)) (*Proof, error) {
	return CheckWith(ctx, store, Limits{}, progress)
}

// CheckWith is Check within limits.
func CheckWith(ctx context.Context, store string, limits Limits, progress func(what string, done, total int)) (*Proof, error) {
	return look(ctx, store, limits, progress, true)
}

// CheckFiles is Check without the sums of the views.
func CheckFiles(ctx context.Context, store string) (*Proof, error) {
	return look(ctx, store, Limits{}, nil, false)
}

// look is Check, with or without the sums of the views.
func look(ctx context.Context, store string, limits Limits, progress func(what string, done, total int), sums bool) (*Proof, error) {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	inventory, err := takeInventory(store) // before the commits: what they name was there then
	if err != nil {
		return nil, err
	}
	store, c, err := committed(store)
	if err != nil {
		return nil, err
	}
	p := &Proof{Experiments: len(experimentsOf(c.Batches)), Batches: len(c.Batches), Wrong: []Finding{}, Notes: []Finding{}}
	if err := p.checkFiles(ctx, store, c, progress); err != nil {
		return p, err
	}
	intact := len(p.Wrong) == 0 // sums over other files than were written prove nothing
	if err := p.checkCommits(c); err != nil {
		return p, err
	}
	p.checkInventory(store, c, inventory)
	if intact && sums {
		if err := p.checkViews(ctx, store, c.Batches, limits, progress); err != nil {
			return p, err
		}
	}
	return p, p.checkCatalog(ctx, store, c.Batches, intact)
}

// checkFiles looks at every file that a commit names, including damaged commits that
// can be read.
func (p *Proof) checkFiles(ctx context.Context, store string, c *storedir.Contents, progress func(string, int, int)) error {
	var commits []storedir.Commit
	for _, b := range c.Batches {
		commits = append(commits, b.Commit)
	}
	for _, d := range c.Damaged {
		d.Commit.Batch = d.Batch
		commits = append(commits, d.Commit)
	}
	total := 0
	for _, x := range commits {
		total += len(x.Files)
	}
	for n, x := range commits {
		found := len(p.Wrong)
		for _, f := range x.Files {
			if err := ctx.Err(); err != nil {
				return err
			}
			progress("files", p.Files, total)
			p.Files++
			err := checkFile(store, x, f)
			if undone(err) {
				return fmt.Errorf("%s: %w", f.Path, err)
			}
			if err != nil {
				p.add(f.Path, "%v", err)
				continue
			}
			p.Rows += f.Rows
			p.Bytes += f.Bytes
		}
		if len(p.Wrong) > found && n < len(c.Batches) {
			p.damaged = append(p.damaged, x.Batch)
		}
	}
	return nil
}

// checkCommits names the commits that are not as they were written, and the
// experiments that are to be ingested again.
func (p *Proof) checkCommits(c *storedir.Contents) error {
	for _, d := range c.Damaged {
		if !errors.Is(d.Err, storedir.ErrDamaged) {
			return d.Err
		}
		p.add(d.File(), "is not as it was written, so that %s: %v", leftOut(d.Experiments), d.Err)
		p.damaged = append(p.damaged, d.Batch)
	}
	for _, a := range c.Again {
		p.note("experiment "+a.ExperimentID, "was damaged and is to be ingested again%s", recordedAt(a.Path))
	}
	return nil
}

// leftOut says what a commit that cannot be read costs.
func leftOut(experiments []storedir.Entry) string {
	switch len(experiments) {
	case 0:
		return "what was in it is left out"
	case 1:
		return "its experiment" + recordedAt(experiments[0].Path) + " is left out"
	}
	return fmt.Sprintf("its %d experiments%s are left out", len(experiments), recordedAt(experiments[0].Path+", ..."))
}

// recordedAt says where a recording was.
func recordedAt(path string) string {
	if path == "" {
		return ""
	}
	return " (" + path + ")"
}

// undone reports whether an error means that something could not be checked, rather
// than that it is wrong. The SQL engine opens only files that were read before.
func undone(err error) bool {
	var duck *duckdb.Error
	if errors.As(err, &duck) && duck.Type == duckdb.ErrorTypeIO {
		return true
	}
	return exhausted(err) || errors.Is(err, fs.ErrPermission)
}

// exhausted reports whether an error is due to the machine: no more files, memory
// or disk space, or a failing disk. The SQL engine says so only in its message.
func exhausted(err error) bool {
	var duck *duckdb.Error
	if !errors.As(err, &duck) {
		return fault.Is(err)
	}
	return duck.Type == duckdb.ErrorTypeOutOfMemory || duck.Type == duckdb.ErrorTypeInterrupt ||
		slices.ContainsFunc(exhaustions, func(e syscall.Errno) bool { return strings.Contains(strings.ToLower(duck.Msg), e.Error()) })
}

var exhaustions = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO}

// checkFile compares a file with its commit and its table.
func checkFile(store string, c storedir.Commit, f storedir.File) error {
	t := schema.ByName(f.Table)
	if t == nil {
		return fmt.Errorf("is of table %q, which does not exist", f.Table)
	}
	if !filepath.IsLocal(f.Path) {
		return errors.New("lies outside the store")
	}
	path := filepath.Join(store, filepath.FromSlash(f.Path))
	sum, size, err := checksum(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("is missing, batch %s names it", c.Batch)
	case err != nil:
		return err
	case size != f.Bytes:
		return fmt.Errorf("has %d bytes, %d were committed", size, f.Bytes)
	case sum != f.Checksum:
		return fmt.Errorf("has checksum %s, %s was committed", sum, f.Checksum)
	}
	if err := checkFooter(path, t, f); err != nil {
		return err
	}
	if !storedir.IsFile(f, c.Batch) {
		return fmt.Errorf("is not where files of table %s and batch %s are", f.Table, c.Batch)
	}
	return nil
}

func checksum(path string) (sum string, size int64, err error) {
	f, _, err := infile.Open(path, math.MaxInt64)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := xxhash.New()
	size, err = io.Copy(h, f)
	return storedir.Checksum(h.Sum64()), size, err
}

func checkFooter(path string, t *schema.Table, f storedir.File) error {
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	defer r.Close()
	if n := r.NumRows(); n != f.Rows {
		return fmt.Errorf("has %d rows, %d were committed", n, f.Rows)
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
		return fmt.Errorf("has %d columns, table %s has %d", found.NumFields(), t.Name, want.NumFields())
	}
	for i, w := range want.Fields() {
		g := found.Field(i)
		if g.Name != w.Name || g.Type.String() != w.Type.String() || g.Nullable != w.Nullable {
			return fmt.Errorf("column %d is %s, table %s has %s", i+1, g, t.Name, w)
		}
	}
	return nil
}
