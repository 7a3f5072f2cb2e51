package queries

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"stackmill/storedir"
)

// Draft is a catalog that is about to be made: a file of the store's, of no use to others
// yet, and an SQL engine that has it open. It has what is the same for every store, and
// takes most of the time; what depends on the commits is missing.
type Draft struct {
	path    string
	scratch *storedir.Scratch
	catalog *editor
	shared  bool // whether it has what is the same for every store
	drop    sync.Once
}

// NewDraft begins a catalog, from a template that it keeps in the directory cache; without
// one the draft is empty.
func NewDraft(ctx context.Context, store, cache string) (*Draft, error) {
	scratch, err := storedir.NewScratch(store)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	d := &Draft{path: filepath.Join(scratch.Dir, CatalogFile), scratch: scratch, shared: cache != ""}
	if d.shared {
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

// complete makes the draft the catalog of these definitions.
func (d *Draft) complete(ctx context.Context, want *definitions) error {
	statements := want.changes()
	if !d.shared {
		var err error
		if statements, err = want.all(); err != nil {
			return err
		}
	}
	return d.catalog.finish(ctx, statements)
}

// Drop removes what is left of the draft: all of it, unless it became the catalog. There
// may be no draft.
func (d *Draft) Drop() {
	if d == nil {
		return
	}
	d.drop.Do(func() {
		d.catalog.close()
		d.scratch.Remove()
	})
}
