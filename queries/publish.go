package queries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stackmill/storedir"
)

// publishings bounds how often a catalog is made again because others have committed.
const publishings = 20

// Publish brings the store's catalog up to date with its commits. Most of it is the
// same for every store and is kept in the directory cache; without one it is made
// each time. Of several processes that commit and publish at once, the last leaves a
// complete catalog. The error is storedir.ErrNoStore if there is no store.
func Publish(ctx context.Context, store, cache string) error {
	return bring(ctx, store, cache, nil, false)
}

// Refresh is Publish, unless the store's catalog is that of its commits already. To see
// that takes no SQL engine, which takes longer to start than an ingest of nothing new. A
// draft of the store's, if there is one, saves most of the time.
func Refresh(ctx context.Context, store, cache string, draft *Draft) error {
	return bring(ctx, store, cache, draft, true)
}

// marked reports whether a catalog's file has a fingerprint, which stands there as plain
// text, twice, in the definition of a view. Catalogs are never changed, only replaced.
func marked(path, fingerprint string) bool {
	content, err := os.ReadFile(path)
	return err == nil && bytes.Contains(content, []byte(fingerprint))
}

// bring publishes until no commit comes in between, first by the draft; keep says that a
// catalog may stay that is up to date.
func bring(ctx context.Context, store, cache string, draft *Draft, keep bool) error {
	for range publishings {
		before, err := storedir.Batches(store)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		absolute, err := filepath.Abs(store)
		if err != nil {
			return err
		}
		s := newSaid(absolute)
		has := func(fingerprint string) bool {
			return keep && fingerprint != "" && marked(filepath.Join(absolute, CatalogFile), fingerprint)
		}
		if has(s.fingerprint()) {
			return nil
		}
		if _, err := s.contents(); err != nil {
			return err
		}
		d, err := s.defined()
		if err != nil {
			return err
		}
		if has(d.fingerprint) {
			s.remember(d)
			return nil
		}
		if err := publish(ctx, absolute, cache, draft, d); err != nil {
			return fmt.Errorf("catalog of %s: %w", absolute, err)
		}
		draft = nil
		// The catalog that ours replaced may have had more commits.
		after, err := storedir.Batches(store)
		if err != nil {
			return err
		}
		if slices.Equal(before, after) {
			s.remember(d)
			return nil
		}
	}
	return nil // the next reader makes it
}

// publish puts a catalog in place, made of the draft or, if that cannot be, of another.
func publish(ctx context.Context, store, cache string, draft *Draft, d *definitions) (err error) {
	if draft == nil || draft.complete(ctx, d) != nil {
		if draft, err = NewDraft(ctx, store, cache); err != nil {
			return err
		}
		defer draft.Drop()
		if err := draft.complete(ctx, d); err != nil {
			return err
		}
	}
	return storedir.Place(draft.path, filepath.Join(store, CatalogFile))
}
