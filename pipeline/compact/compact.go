// Package compact merges batches of a store to larger ones: those that were put in one
// after the other, of which each is small, become one whose rows are sorted by experiment.
// Experiments that no longer count are left out of it.
//
// A merge is a commit like any other, which names the batches that it replaces. It keeps
// the generation of each experiment, so that whatever else is committed meanwhile counts
// as it would without the merge: the new batch then has experiments that do not count.
// Programs that merge the same batches make a commit of the same name, which one of them
// gets; of those that merge some of the same, each has all of its experiments, and the
// first batch by name counts.
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

// DefaultSize is about how many bytes the largest table of a merged batch has unless
// anything else is asked for.
const DefaultSize = 256 << 20

// Options say what to merge and how.
type Options struct {
	Store   string
	Program string // version of the program
	// TargetSize is about how many bytes the largest table of a merged batch has.
	TargetSize int64
	Keep       time.Duration // how long replaced files stay
	Purge      bool          // leave out all experiments that do not count, whatever that takes
	Memory     int64         // bytes to stay within
	Jobs       int           // tables that are merged side by side, at least 1
	DryRun     bool          // merge nothing
	// Older opens batches of schema.OlderVersion; nil: a store that has some is refused.
	Older func(ctx context.Context, batches []*storedir.Batch) (Older, error)
	// Progress, if not nil, is called with how many of the bytes to merge are merged.
	Progress func(done, total int64)
	// Committed, if not nil, is called after all merges, before replaced files are removed.
	Committed func()
}

// Summary says what was done, or with DryRun what would be first.
type Summary struct {
	// Rewritten is how many batches of schema.OlderVersion were written again.
	Rewritten int `json:"rewritten,omitempty"`

	Merged  int  `json:"merged"`  // batches that were merged
	Written int  `json:"written"` // to so many
	Before  Size `json:"before"`
	After   Size `json:"after"`
	// Collected is how many files were removed of attempts that have failed, of a store elsewhere.
	Collected int      `json:"collected,omitempty"`
	Damaged   []string `json:"damaged"` // batches that were left alone, since their files are not as they were written
}

// Size is how large what readers see of a store is.
type Size struct {
	Batches     int   `json:"batches"`
	Files       int   `json:"files"`
	Bytes       int64 `json:"bytes"`
	Experiments int   `json:"experiments"`
}

// Run merges what is worth it, again and again until nothing is, and removes what was
// replaced some time ago.
func Run(ctx context.Context, o Options) (s Summary, err error) {
	storedir.Clean(o.Store)
	c, err := storedir.ReadContents(o.Store)
	if err != nil {
		return s, err
	}
	s.Before, s.After, s.Damaged = sizeOf(c), sizeOf(c), []string{}
	r := &run{Options: &o, contents: c, summary: &s, left: map[string]bool{}}
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

// run is what a call of Run does.
type run struct {
	*Options
	contents    *storedir.Contents
	summary     *Summary
	left        map[string]bool // batches that are left alone
	done, total int64           // bytes
}

// all merges until there is nothing left to merge.
func (r *run) all(ctx context.Context) error {
	for {
		groups := plan(r.Options, r.contents, r.left)
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

// one merges a group of batches, unless one of them is damaged or was just replaced.
func (r *run) one(ctx context.Context, group []*storedir.Batch) error {
	r.progress(0)
	err := r.verify(ctx, group)
	if err == nil {
		_, err = newMerge(r.Options, group).run(ctx, r.contents)
	}
	switch {
	case err == nil:
		r.summary.Merged, r.summary.Written = r.summary.Merged+len(group), r.summary.Written+1
	case errors.Is(err, errLeft), r.replaced(group): // its files may be gone
	case errors.Is(err, storedir.ErrExists):
		r.left[group[0].Batch] = true
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

// replaced reports whether a batch of a group does not count any more.
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

// errLeft says that a batch is left alone.
var errLeft = errors.New("it is left alone")

// verify compares the files of batches with their commits: what is damaged stays as it is,
// for check to find. The error is errLeft if any is.
func (r *run) verify(ctx context.Context, group []*storedir.Batch) (err error) {
	for _, b := range group {
		if err := storedir.FetchVerified(r.Store, b.Files); errors.Is(err, fs.ErrNotExist) && r.replaced(group) {
			return errLeft
		} else if errors.Is(err, storedir.ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
			r.damaged(b)
			return errLeft
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
				return errLeft
			case errors.Is(serr, fs.ErrNotExist), errors.Is(serr, storedir.ErrNotRegular), serr == nil && sum != f.Checksum:
				r.damaged(b)
				err = errLeft
			case serr != nil:
				return fmt.Errorf("%s: %w", f.Path, serr)
			}
		}
	}
	return err
}

// damaged notes that a batch is left alone.
func (r *run) damaged(b *storedir.Batch) {
	if !r.left[b.Batch] {
		r.left[b.Batch] = true
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
