package queries

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"stackmill/storedir"
)

// Draft is a catalog that is about to be made: a file of the store's, of no use to others
// yet, and an SQL engine that has it open. It has what is the same for every store, and
// takes most of the time; what depends on the commits is missing.
type Draft struct {
	store   string
	path    string
	scratch *storedir.Scratch
	catalog *editor

	mu      sync.Mutex
	made    string // the fingerprint, once it is complete
	dropped bool
}

// NewDraft begins the catalog of a store, which it creates if need be, from a template that
// it keeps in the directory cache; without one the draft is empty.
func NewDraft(ctx context.Context, store, cache string) (*Draft, error) {
	if err := storedir.Make(store); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	scratch, err := storedir.NewScratch(store)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	d := &Draft{store: store, path: filepath.Join(scratch.Dir, CatalogFile), scratch: scratch}
	if cache != "" {
		d.catalog, err = fromTemplate(ctx, d.path, cache)
	} else {
		d.catalog, err = edit(ctx, d.path)
	}
	if err != nil {
		d.Drop()
		return nil, err
	}
	return d, nil
}

// Foresee gives the draft what it will probably have for the only commit of a store. What
// turns out to be different is changed when the draft is completed. There may be no draft.
func (d *Draft) Foresee(ctx context.Context, c storedir.Commit) error {
	if d == nil {
		return nil
	}
	absolute, err := filepath.Abs(d.store)
	if err != nil {
		return err
	}
	probable := &definitions{store: absolute, portions: portions([]storedir.Batch{{Commit: c}})}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made != "" || d.dropped || d.catalog.changes == nil {
		return nil
	}
	d.made = incomplete
	if err := d.catalog.change(ctx, probable.changes("")); err != nil {
		return err
	}
	d.made = ""
	return nil
}

// Expect completes the draft for a commit that is about to be made. The draft is of no
// use if that is not made, or another comes first. There may be no draft.
func (d *Draft) Expect(ctx context.Context, c storedir.Commit) error {
	if d == nil {
		return nil
	}
	absolute, s, err := committed(d.store)
	if err != nil {
		return err
	}
	s.Add(c)
	want, err := define(absolute, s.Batches, experimentsOf(s.Batches))
	if err != nil {
		return err
	}
	return d.complete(ctx, want)
}

// incomplete is what a draft is made for until it is complete.
const incomplete = "-"

// errMade says that a draft is complete for other commits, or dropped.
var errMade = errors.New("the draft is of no use any more")

// complete makes the draft the catalog of these definitions.
func (d *Draft) complete(ctx context.Context, want *definitions) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.made == want.fingerprint && !d.dropped:
		return nil
	case d.made != "" || d.dropped:
		return errMade
	}
	d.made = incomplete
	if err := d.catalog.finish(ctx, want); err != nil {
		return err
	}
	d.made = want.fingerprint
	return nil
}

// closing is how long after its use an engine is closed, which takes some milliseconds: most
// programs have ended by then.
const closing = 50 * time.Millisecond

// Drop removes what is left of the draft: all of it, unless it became the catalog. There
// may be no draft.
func (d *Draft) Drop() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dropped {
		d.dropped = true
		if d.made == "" || d.made == incomplete {
			d.catalog.close()
		} else {
			time.AfterFunc(closing, d.catalog.close)
		}
		d.scratch.Remove()
	}
}
