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
	// Doubted are experiments that were left to SQL, and what reading their files did not
	// prove. They are wrong only if SQL finds so.
	Doubted []Finding `json:"doubted"`
	// LeftOut is what was not looked at, because it was committed before.
	LeftOut LeftOut `json:"left_out"`
	// Notes are about what a killed ingest may leave, and what the next ingest or
	// reader puts in order.
	Notes []Finding `json:"notes"`

	damaged []string // batches that must be ingested again
	extra   []string // files that nothing names, relative to the store
}

// LeftOut is a part of a store of whose files a check only saw that they exist, with the
// right sizes.
type LeftOut struct {
	Experiments int `json:"experiments"`
	Batches     int `json:"batches"`
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
	return look(ctx, store, CheckOptions{Progress: progress})
}

// CheckOptions say how a store is checked.
type CheckOptions struct {
	Limits Limits
	// Since, if not zero, leaves out the content of batches that were committed before:
	// their files must only be there, with the right sizes.
	Since time.Time
	// SinceBatch, if not empty, is a batch whose commit's time is taken for Since.
	SinceBatch string
	// SQL leaves all sums to the views' invariants, which takes many times as long.
	SQL bool
	// Progress, if not nil, is called with what is being looked at.
	Progress func(what string, done, total int)

	files bool // without the sums of the views
}

// CheckWith is Check with options. The error is a SinceError if there is no such batch.
func CheckWith(ctx context.Context, store string, o CheckOptions) (*Proof, error) {
	return look(ctx, store, o)
}

// CheckFiles is Check without the sums of the views.
func CheckFiles(ctx context.Context, store string) (*Proof, error) {
	return look(ctx, store, CheckOptions{files: true})
}

// SinceError says that a store does not have the batch since which to check.
type SinceError struct{ Batch string }

func (e *SinceError) Error() string { return fmt.Sprintf("no batch %q in the store", e.Batch) }

// since parts batches into those to look at and those committed before.
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

// look is Check with options.
func look(ctx context.Context, store string, o CheckOptions) (*Proof, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	there, err := storedir.Verify(store)
	if err != nil {
		return nil, err
	}
	inventory, err := takeInventory(store) // before the commits: what they name was there then
	if err != nil {
		return nil, err
	}
	store, c, err := committed(store)
	if err != nil {
		return nil, err
	}
	now, before, err := o.since(c.Batches)
	if err != nil {
		return nil, err
	}
	p := &Proof{Experiments: len(experimentsOf(now)), Batches: len(now), Wrong: []Finding{}, Notes: []Finding{}, Doubted: []Finding{},
		LeftOut: LeftOut{len(experimentsOf(before)), len(before)}}
	if err := p.fetch(store, c); err != nil {
		return p, err
	}
	if err := p.checkFiles(ctx, store, c, now, before, o); err != nil {
		return p, err
	}
	intact := len(p.Wrong) == 0 // sums over other files than were written prove nothing
	if err := p.checkCommits(c); err != nil {
		return p, err
	}
	p.checkInventory(store, c, inventory)
	for _, file := range there {
		if !c.Names(file) {
			p.note(file, "is in no commit: compact removes it when it is old")
		}
	}
	if intact && !o.files {
		if err := p.checkViews(ctx, store, now, o); err != nil {
			return p, err
		}
	}
	return p, p.checkCatalog(ctx, store, c.Batches, intact)
}

// fetch brings the files of a store elsewhere. What is damaged there is wrong, and what
// cannot be had is missing.
func (p *Proof) fetch(store string, c *storedir.Contents) error {
	for i := range c.Batches {
		err := storedir.Prove(store, c.Batches[i].Files)
		if errors.Is(err, storedir.ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
			p.add("batch "+c.Batches[i].Batch, "%v", err)
		} else if err != nil {
			return err
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
		return hosterr.Is(err)
	}
	return duck.Type == duckdb.ErrorTypeOutOfMemory || duck.Type == duckdb.ErrorTypeInterrupt ||
		slices.ContainsFunc(exhaustions, func(e syscall.Errno) bool { return strings.Contains(strings.ToLower(duck.Msg), e.Error()) })
}

var exhaustions = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO}
