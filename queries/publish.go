package queries

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"stackmill/schema/storedir"
)

// publishings bounds how often a catalog is rebuilt because others have committed.
const publishings = 20

// Publish brings the store's catalog up to date with its commits. If several processes commit and
// publish at once, the last leaves a complete catalog. The error is storedir.ErrNoStore if there is
// no store.
func Publish(store string) error { return publishUntilStable(store, false) }

// Refresh is Publish, unless the catalog is up to date already.
func Refresh(store string) error { return publishUntilStable(store, true) }

// hasFingerprint reports whether a catalog's file has a fingerprint. It is there as plain text, and
// catalogs are replaced, never changed.
func hasFingerprint(path, fingerprint string) bool {
	content, err := storedir.ReadFile(path, math.MaxInt64-1)
	return err == nil && bytes.Contains(content, []byte(fingerprint))
}

// publishUntilStable publishes until no commit comes in between. keep leaves a catalog that is up
// to date.
func publishUntilStable(store string, keep bool) error {
	for range publishings {
		before, err := storedir.CommitNames(store)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		path, c, _, err := readCommits(store)
		if err != nil {
			return err
		}
		d := define(path, c.Batches, experimentsOf(c.Batches), columnForm{})
		if keep && hasFingerprint(filepath.Join(path, CatalogFile), d.fingerprint) {
			return nil
		}
		if err := publish(path, d); err != nil {
			return fmt.Errorf("catalog of %s: %w", path, err)
		}
		// The catalog that this one replaced may have had more commits.
		after, err := storedir.CommitNames(store)
		if err != nil || slices.Equal(before, after) {
			return err
		}
	}
	return nil // the next reader rebuilds it
}

// publish replaces the catalog.
func publish(store string, d *definitions) error {
	scratch, err := storedir.NewScratch(store)
	if err != nil {
		return err
	}
	defer scratch.Remove()
	path := filepath.Join(scratch.Dir, CatalogFile)
	if err := writeCatalog(path, d); err != nil {
		return err
	}
	return storedir.ReplaceFile(path, filepath.Join(store, CatalogFile))
}
