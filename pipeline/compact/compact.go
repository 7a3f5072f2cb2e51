// Package compact merges small batches of a store, which were committed one after the other, into
// larger ones, whose rows are sorted by experiment. It leaves out experiments that no longer count.
//
// A merge is a commit like any other, which names the batches that it replaces. It keeps the
// generation of each experiment, so that concurrent commits win or lose as they would without the
// merge; the new batch may then have experiments that do not count. Programs that merge the same
// batches create a commit of the same name: only one succeeds. If merges overlap, an experiment may
// be in several new batches: the first by name counts.
//
// Start reading with Run; plan.go chooses the batches, merge.go merges them.
package compact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema/storedir"
)

// DefaultSize is the default of Options.TargetSize.
const DefaultSize = 256 << 20

// Options say what to merge and how.
type Options struct {
	Store   string
	Program string // version of the program
	// TargetSize is the approximate size in bytes of the largest table of a merged batch.
	TargetSize int64
	Keep       time.Duration // how long replaced files stay
	Purge      bool          // drop all experiments that do not count, however much is rewritten
	Memory     int64         // limit in bytes
	Jobs       int           // tables to merge at a time, at least 1
	DryRun     bool          // merge nothing
	// Older opens batches of schema.OlderVersions; nil: refuse a store with such batches.
	Older func(ctx context.Context, batches []*storedir.Batch) (Older, error)
	// Progress, if not nil, is called with the bytes merged so far, and in total.
	Progress func(done, total int64)
	// Committed, if not nil, is called after all merges, before replaced files are removed.
	Committed func()
}

// Summary describes the finished work or, with DryRun, the first step of it.
type Summary struct {
	// Rewritten counts the batches of schema.OlderVersions that were written again.
	Rewritten int `json:"rewritten,omitempty"`

	Merged  int  `json:"merged"`  // batches that were merged
	Written int  `json:"written"` // batches that they were merged into
	Before  Size `json:"before"`
	After   Size `json:"after"`
	// Collected counts the files of failed attempts that were removed from a store on S3.
	Collected int      `json:"collected,omitempty"`
	Damaged   []string `json:"damaged"` // batches that were skipped, because their files have changed since they were written
}

// Size is the size of the visible part of a store.
type Size struct {
	Batches     int   `json:"batches"`
	Files       int   `json:"files"`
	Bytes       int64 `json:"bytes"`
	Experiments int   `json:"experiments"`
}

// Run merges until no merge is worthwhile, and removes files that were replaced some time ago.
func Run(ctx context.Context, o Options) (s Summary, err error) {
	storedir.Clean(o.Store)
	c, err := storedir.ReadContents(o.Store)
	if err != nil {
		return s, err
	}
	s.Before, s.After, s.Damaged = sizeOf(c), sizeOf(c), []string{}
	r := &run{Options: &o, contents: c, summary: &s, skipped: map[string]bool{}}
	if o.Older != nil && !o.DryRun {
		if err := r.rewrite(ctx); err != nil {
			return s, err
		}
		if err := c.RewriteMetadata(o.Program); err != nil {
			return s, err
		}
	}
	if err := c.CheckVersions(); err != nil {
		return s, err
	}
	if o.DryRun {
		for _, group := range plan(&o, c, nil) {
			s.Merged, s.Written = s.Merged+len(group), s.Written+1
		}
		return s, nil
	}
	if err = r.all(ctx); err == nil {
		_, err = c.CompactMetadata(o.Keep, o.Program)
	}
	if err == nil {
		if o.Committed != nil {
			o.Committed()
		}
		c.Sweep(o.Keep)
		s.Collected, err = storedir.CollectGarbage(o.Store)
	}
	s.After = sizeOf(c)
	return s, err
}

// run is the state of a call of Run.
type run struct {
	*Options
	contents    *storedir.Contents
	summary     *Summary
	skipped     map[string]bool // names of batches to skip
	done, total int64           // bytes
}

// all merges until nothing is left to merge.
func (r *run) all(ctx context.Context) error {
	for {
		groups := plan(r.Options, r.contents, r.skipped)
		if len(groups) == 0 {
			return nil
		}
		for _, g := range groups {
			r.total += bytesOf(g)
		}
		for _, g := range groups {
			if err := r.one(ctx, g); err != nil {
				return err
			}
		}
	}
}

// one merges a group of batches. It skips the group if one of them is damaged, or if another
// program has just replaced one.
func (r *run) one(ctx context.Context, group []*storedir.Batch) error {
	r.progress(0)
	err := r.verify(ctx, group)
	if err == nil {
		_, err = newMerge(r.Options, group).run(ctx, r.contents)
	}
	switch {
	case err == nil:
		r.summary.Merged, r.summary.Written = r.summary.Merged+len(group), r.summary.Written+1
	case errors.Is(err, errSkipped), r.replaced(group): // its files may be gone
	case errors.Is(err, storedir.ErrExists):
		r.skipped[group[0].Batch] = true
	default:
		return err
	}
	r.progress(bytesOf(group))
	return r.contents.Refresh()
}

func (r *run) progress(more int64) {
	if r.done += more; r.Progress != nil {
		r.Progress(r.done, r.total)
	}
}

// replaced reports whether another program has replaced a batch of the group meanwhile.
func (r *run) replaced(group []*storedir.Batch) bool {
	if r.contents.Refresh() != nil {
		return false
	}
	now := map[string]bool{}
	for _, b := range r.contents.Batches {
		now[b.Batch] = true
	}
	for _, b := range group {
		if !now[b.Batch] {
			return true
		}
	}
	return false
}

// errSkipped says that a group must not be merged now: a batch is damaged or was replaced.
var errSkipped = errors.New("a batch is damaged or was replaced")

// verify compares the files of batches with their commits. The error is errSkipped if a batch is
// damaged, which stays as it is for `stackmill check` to find, or was replaced.
func (r *run) verify(ctx context.Context, group []*storedir.Batch) (err error) {
	for _, b := range group {
		if err := storedir.FetchVerified(r.Store, b.Files); errors.Is(err, fs.ErrNotExist) && r.replaced(group) {
			return errSkipped
		} else if errors.Is(err, storedir.ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
			r.damaged(b)
			return errSkipped
		} else if err != nil {
			return err
		}
		for _, f := range b.Files {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			sum, serr := checksum(r.Store, f.Path)
			switch {
			case errors.Is(serr, fs.ErrNotExist) && r.replaced(group):
				return errSkipped
			case errors.Is(serr, fs.ErrNotExist), errors.Is(serr, storedir.ErrNotRegular), serr == nil && sum != f.Checksum:
				r.damaged(b)
				err = errSkipped
			case serr != nil:
				return fmt.Errorf("%s: %w", f.Path, serr)
			}
		}
	}
	return err
}

// damaged records that a batch is damaged and must be skipped.
func (r *run) damaged(b *storedir.Batch) {
	if !r.skipped[b.Batch] {
		r.skipped[b.Batch] = true
		r.summary.Damaged = append(r.summary.Damaged, b.Batch)
	}
}

func checksum(store, path string) (string, error) {
	f, err := storedir.OpenFile(store, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := xxhash.New()
	_, err = io.Copy(h, f)
	return storedir.Checksum(h.Sum64()), err
}

func sizeOf(c *storedir.Contents) (s Size) {
	for i := range c.Batches {
		b := &c.Batches[i]
		s.Batches++
		s.Files += len(b.Files)
		for range b.Visible {
			s.Experiments++
		}
		for _, f := range b.Files {
			s.Bytes += f.Bytes
		}
	}
	return s
}

func bytesOf(group []*storedir.Batch) (n int64) {
	for _, b := range group {
		for _, f := range b.Files {
			n += f.Bytes
		}
	}
	return n
}
