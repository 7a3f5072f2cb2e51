//go:build cgo

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"stackmill/queries"
	"stackmill/schema/storedir"
)

// open opens the store for a verb; with selectors, only the experiments that these select.
func (a *app) open(ctx context.Context, selectors ...string) (*queries.DB, error) {
	return a.Open(ctx, &a.Output, a.store, selectors...)
}

// emptyStore returns the error of a store without experiments.
func (a *app) emptyStore() error {
	return fmt.Errorf("the store %s is empty (run `stackmill ingest --store %s PATH` first)", storedir.DisplayName(a.store), storedir.DisplayName(a.store))
}

// changeStore calls commit, which adds a commit to the store, and then updates the store's catalog.
func (a *app) changeStore(ctx context.Context, commit func(*storedir.Contents) error) error {
	store, err := filepath.Abs(a.store)
	if err != nil {
		return err
	}
	c, err := storedir.ReadContents(store)
	if err == nil {
		err = commit(c)
	}
	if err != nil {
		return err
	}
	if err := queries.Refresh(store); err != nil && ctx.Err() == nil {
		a.Warnf("%v (the next report or query makes the catalog)", err)
	}
	return nil
}
