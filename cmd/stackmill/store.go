//go:build cgo

package main

import (
	"context"
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
	return a.Open(ctx, &a.Output, a.store, selectors...)
}

// emptyStore is why a store without experiments answers nothing.
func (a *app) emptyStore() error {
	return fmt.Errorf("the store %s is empty (run `stackmill ingest --store %s PATH` first)", storedir.DisplayName(a.store), storedir.DisplayName(a.store))
}
