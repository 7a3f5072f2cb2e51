//go:build cgo

package console

import (
	"context"
	"errors"
	"fmt"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/schema/storedir"
)

// Session opens stores, and prints what their answers lack on standard error.
type Session struct {
	Limits  queries.Limits
	Unsafe  bool     // SQL may do more than read the store
	LeftOut []string // what answers from the store that was opened last lack
}

// Open opens a store; with selectors, only the experiments that these select.
func (s *Session) Open(ctx context.Context, out *terminal.Output, store string, selectors ...string) (*queries.DB, error) {
	db, err := queries.OpenWith(ctx, store, queries.Options{Limits: s.Limits, Unsafe: s.Unsafe, Only: selectors})
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", NoStore(store, err))
	}
	s.LeftOut = db.LeftOut()
	for _, remark := range s.LeftOut {
		out.Warnf("%s", remark)
	}
	return db, nil
}

// NoStore replaces the error of a store that does not exist by one that says what to do.
func NoStore(store string, err error) error {
	if errors.Is(err, storedir.ErrNoStore) {
		return fmt.Errorf("no store at %s (run `stackmill ingest --store %[1]s PATH` first)", storedir.DisplayName(store))
	}
	return err
}

// Filter returns the store with the samples that pass a filter, as a session that is closed before
// the store; the store itself if all pass. With views, it has what they read.
func (s *Session) Filter(ctx context.Context, out *terminal.Output, db *queries.DB, f queries.Filter, views ...string) (filtered *queries.DB, closing func(), err error) {
	if f.IsEmpty() {
		return db, func() {}, nil
	}
	filtered, err = db.Filter(ctx, f, views...)
	if err != nil {
		return nil, nil, err
	}
	remarks, err := filtered.Remarks(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, filtered.Close())
	}
	for _, r := range remarks[len(s.LeftOut):] { // these were printed when the store was opened
		out.Warnf("%s", r)
	}
	return filtered, func() { _ = filtered.Close() }, nil
}
