//go:build cgo

package main

import (
	"context"
	"fmt"

	"stackmill/queries"
	"stackmill/schema/storedir"
)

// experimentHelp describes the flag --experiment.
const experimentHelp = "only these experiments, may be repeated: " + queries.SelectorHelp

// open opens the store for a verb; with selectors, only the experiments that these select.
func (a *app) open(ctx context.Context, selectors ...string) (*queries.DB, error) {
	return a.Open(ctx, &a.Output, a.store, selectors...)
}

// emptyStore returns the error of a store without experiments.
func (a *app) emptyStore() error {
	return fmt.Errorf("the store %s is empty (run `stackmill ingest --store %s PATH` first)", storedir.DisplayName(a.store), storedir.DisplayName(a.store))
}
