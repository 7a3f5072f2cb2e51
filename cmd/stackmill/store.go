//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"

	"stackmill/queries"
	"stackmill/schema/storedir"
)

// experimentHelp is the help of the flag --experiment of the verbs that read some
// experiments.
const experimentHelp = "only these experiments, may be repeated: " + queries.SelectorHelp

// open opens the store for a verb; with selectors, only the experiments that they
// stand for.
func (a *app) open(ctx context.Context, selectors ...string) (*queries.DB, error) {
	o := queries.Options{Limits: a.limits, Unsafe: a.unsafe, Only: selectors}
	db, err := queries.OpenWith(ctx, a.store, o)
	if errors.Is(err, storedir.ErrNoStore) {
		return nil, fmt.Errorf("open the store: no store at %s (run `stackmill ingest --store %s PATH` first)", storedir.Name(a.store), storedir.Name(a.store))
	}
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	a.leftOut = db.LeftOut()
	for _, remark := range a.leftOut {
		a.Warnf("%s", remark)
	}
	return db, nil
}

// emptyStore is why a store without experiments answers nothing.
func (a *app) emptyStore() error {
	return fmt.Errorf("the store %s is empty (run `stackmill ingest --store %s PATH` first)", storedir.Name(a.store), storedir.Name(a.store))
}
