package main

import (
	"context"
	"errors"
	"fmt"

	"stackmill/queries"
	"stackmill/storedir"
)

// open opens the store for a verb; with names, only the experiments that they
// stand for.
func (a *app) open(ctx context.Context, names ...string) (*queries.DB, error) {
	o := queries.Options{Limits: a.limits, Unsafe: a.unsafe, Only: names}
	db, err := queries.OpenWith(ctx, a.store, o)
	if errors.Is(err, storedir.ErrNoStore) {
		return nil, fmt.Errorf("open the store: no store at %s (run `stackmill ingest --store %s PATH` first)", a.store, a.store)
	}
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	for _, d := range db.Damaged {
		say(a.stderr, "stackmill: commit file %s: %v: its experiment is left out (ingest the recording again; stackmill check says more)\n", d.File(), d.Err)
	}
	return db, nil
}
