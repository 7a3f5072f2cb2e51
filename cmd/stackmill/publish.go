//go:build cgo

package main

import (
	"errors"

	"stackmill/queries"
	"stackmill/schema/storedir"
)

// publish brings a store's catalog up to date. If that fails, the recordings are in the store
// nevertheless.
func (a *app) publish(store string) {
	if err := queries.Refresh(store); err != nil && !errors.Is(err, storedir.ErrNoStore) {
		a.Warnf("%v (the recordings are in the store; the next report or query makes the catalog)", err)
	}
}
