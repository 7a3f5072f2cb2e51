package queries

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"stackmill/internal/hosterr"
	"stackmill/schema/storedir"
)

// CheckReport is what a check examined and what it found.
type CheckReport struct {
	Experiments int       `json:"experiments"`
	Batches     int       `json:"batches"`
	Files       int       `json:"files"`
	Rows        int64     `json:"rows"`
	Bytes       int64     `json:"bytes"`
	Keys        int       `json:"keys"`
	Invariants  int       `json:"invariants"`
	Wrong       []Finding `json:"wrong"`
	// Doubted lists experiments that package verify could not prove correct, with the reason. SQL
	// then checks them, so they are wrong only if Wrong has them, too.
	Doubted []Finding `json:"doubted"`
	// LeftOut is what was skipped because it was committed before CheckOptions.Since.
	LeftOut LeftOut `json:"left_out"`
	// Notes lists harmless leftovers, for example of killed ingests, which the next ingest or
	// reader removes.
	Notes []Finding `json:"notes"`

	damaged []string // batches that must be ingested again
	extra   []string // relative paths of files that no commit names
}

// LeftOut counts what a check skipped. Of skipped files it only checks that they exist with their
// sizes.
type LeftOut struct {
	Experiments int `json:"experiments"`
	Batches     int `json:"batches"`
}

// Finding is one result of a check: where and what.
type Finding struct {
	Where string `json:"where"`
	What  string `json:"what"`
}

func (f Finding) String() string { return f.Where + ": " + f.What }

func (p *CheckReport) add(where, format string, args ...any) {
	p.Wrong = append(p.Wrong, Finding{where, fmt.Sprintf(format, args...)})
}

func (p *CheckReport) note(where, format string, args ...any) {
	p.Notes = append(p.Notes, Finding{where, fmt.Sprintf(format, args...)})
}

// CheckOptions are the options of a check.
type CheckOptions struct {
	Limits Limits
	// Since, if not zero, skips the content of batches that were committed before: their files need
	// only exist, with the right sizes.
	Since time.Time
	// SinceBatch, if not empty, names a batch whose commit time is used as Since.
	SinceBatch string
	// SQL checks all sums by the views' invariants. That takes many times as long as package
	// verify, which is used otherwise.
	SQL bool
	// Progress, if not nil, is called with the name of a step and how much of it is done.
	Progress func(what string, done, total int)
	// FilesOnly skips the sums of the views.
	FilesOnly bool
}

// SinceError says that the store does not have the batch CheckOptions.SinceBatch.
type SinceError struct{ Batch string }

func (e *SinceError) Error() string { return fmt.Sprintf("no batch %q in the store", e.Batch) }

// since divides batches into those to check (now) and those committed before CheckOptions.Since.
func (o *CheckOptions) since(batches []storedir.Batch) (now, before []storedir.Batch, err error) {
	at := o.Since
	if o.SinceBatch != "" {
		i := slices.IndexFunc(batches, func(b storedir.Batch) bool { return b.Batch == o.SinceBatch })
		if i < 0 {
			return nil, nil, &SinceError{o.SinceBatch}
		}
		at = batches[i].Ingested
	}
	for _, b := range batches {
		if b.Ingested.Before(at) {
			before = append(before, b)
		} else {
			now = append(now, b)
		}
	}
	return now, before, nil
}

// Check verifies a store without writing to it. All commits and committed files must be as they
// were written, and there must be no other files. Unless files are damaged, all keys must be
// unique, and the invariants of all views must hold. If the store could not be checked completely,
// Check returns an error and the findings so far. The error is a SinceError if SinceBatch is
// unknown.
func Check(ctx context.Context, store string, o CheckOptions) (*CheckReport, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	there, err := storedir.Verify(store)
	if err != nil {
		return nil, err
	}
	fileListing, err := listFiles(store) // before the commits: whatever they name existed then
	if err != nil {
		return nil, err
	}
	store, c, _, err := readCommits(store, nil)
	if err != nil {
		return nil, err
	}
	now, before, err := o.since(c.Batches)
	if err != nil {
		return nil, err
	}
	p := &CheckReport{Experiments: len(experimentsOf(now)), Batches: len(now), Wrong: []Finding{}, Notes: []Finding{}, Doubted: []Finding{},
		LeftOut: LeftOut{len(experimentsOf(before)), len(before)}}
	if err := p.fetch(store, c); err != nil {
		return p, err
	}
	if err := p.checkFiles(ctx, store, c, now, before, o); err != nil {
		return p, err
	}
	intact := len(p.Wrong) == 0 // sums over damaged files prove nothing
	if err := p.checkCommits(c); err != nil {
		return p, err
	}
	p.checkExtraFiles(store, c, fileListing)
	for _, file := range there {
		if !c.NamesFile(file) {
			p.note(file, "is in no commit: compact removes it when it is old")
		}
	}
	if intact && !o.FilesOnly {
		if err := p.checkViews(ctx, store, now, o); err != nil {
			return p, err
		}
	}
	return p, p.checkCatalog(ctx, store, c.Batches, intact)
}

// fetch copies the files of a store on S3 to its local cache. Files that are damaged or missing
// there are findings.
func (p *CheckReport) fetch(store string, c *storedir.Contents) error {
	for i := range c.Batches {
		err := storedir.FetchVerified(store, c.Batches[i].Files)
		if errors.Is(err, storedir.ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
			p.add("batch "+c.Batches[i].Batch, "%v", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// checkCommits reports damaged commits, and experiments that must be ingested again.
func (p *CheckReport) checkCommits(c *storedir.Contents) error {
	for _, d := range c.Damaged {
		if !errors.Is(d.Err, storedir.ErrDamaged) {
			return d.Err
		}
		p.add(d.Path(), "is not as it was written, so that %s: %v", leftOut(d.Experiments), d.Err)
		p.damaged = append(p.damaged, d.Batch)
	}
	for _, a := range c.ToReingest {
		p.note("experiment "+a.ExperimentID, "was damaged and must be ingested again%s", recordedAt(a.Path))
	}
	return nil
}

// leftOut says which experiments a damaged commit hides.
func leftOut(experiments []storedir.Entry) string {
	switch len(experiments) {
	case 0:
		return "what was in it is left out"
	case 1:
		return "its experiment" + recordedAt(experiments[0].Path) + " is left out"
	}
	return fmt.Sprintf("its %d experiments%s are left out", len(experiments), recordedAt(experiments[0].Path+", ..."))
}

func recordedAt(path string) string {
	if path == "" {
		return ""
	}
	return " (" + path + ")"
}

// isInconclusive reports whether an error means that something could not be checked, not that it is
// wrong. I/O errors of the SQL engine are such errors, because it only opens files that this
// program has read before.
func isInconclusive(err error) bool {
	var duck *duckdb.Error
	if errors.As(err, &duck) && duck.Type == duckdb.ErrorTypeIO {
		return true
	}
	return isHostError(err) || errors.Is(err, fs.ErrPermission)
}

// isHostError reports whether the machine is the cause: no more files, memory or disk space, or a
// failing disk. The SQL engine says so only in its message.
func isHostError(err error) bool {
	var duck *duckdb.Error
	if !errors.As(err, &duck) {
		return hosterr.Is(err)
	}
	return duck.Type == duckdb.ErrorTypeOutOfMemory || duck.Type == duckdb.ErrorTypeInterrupt ||
		slices.ContainsFunc(exhaustions, func(e syscall.Errno) bool { return strings.Contains(strings.ToLower(duck.Msg), e.Error()) })
}

var exhaustions = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO}
