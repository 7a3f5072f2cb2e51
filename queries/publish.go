package queries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"

	"stackmill/schema/storedir"
)

// publishings is how often a catalog is rebuilt at most, if others commit meanwhile.
const publishings = 20

// Publish writes a catalog for the store's current commits. If several processes commit and publish
// at once, the last catalog is complete. The error is storedir.ErrNoStore if there is no store.
func Publish(store string) error { return publishUntilStable(store, false) }

// Refresh is Publish, but keeps a catalog that is up to date.
func Refresh(store string) error { return publishUntilStable(store, true) }

// hasFingerprint reports whether a catalog's file contains a fingerprint, as plain text. Catalogs
// are replaced, never changed, so a file cannot contain the fingerprint of an older one.
func hasFingerprint(path, fingerprint string) bool {
	content, err := storedir.ReadFile(path, math.MaxInt64-1)
	return err == nil && bytes.Contains(content, []byte(fingerprint))
}

// publishUntilStable publishes again until nobody has committed meanwhile. keep says to keep a
// catalog that is up to date.
func publishUntilStable(store string, keep bool) error {
	for range publishings {
		before, err := storedir.CommitNames(store)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		path, c, _, err := readCommits(store, nil)
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
		// If others have committed meanwhile, the replaced catalog may have had their commits.
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

// repairs is how often Repair checks the store at most. Each repair may leave files that no commit
// names, which the next check finds.
const repairs = 3

// Repair renames commits back, removes files that no commit names and what killed programs left,
// hides damaged experiments until they are ingested again, and rebuilds the catalog if it is wrong.
// It calls done after each action, so never if there was nothing to do. It does not repair values
// whose sums are wrong.
func Repair(ctx context.Context, store string, done func(where, what string)) error {
	clean(store, done)
	stale := true
	for range repairs {
		p, err := Check(ctx, store, CheckOptions{FilesOnly: true})
		if err != nil {
			return err
		}
		if len(p.extra)+len(p.damaged) == 0 {
			stale = slices.ContainsFunc(slices.Concat(p.Wrong, p.Notes), func(f Finding) bool { return f.Where == CatalogFile })
			break
		}
		if err := p.repair(ctx, store, done); err != nil {
			return err
		}
	}
	if !stale {
		return nil
	}
	if err := Publish(store); err != nil {
		return err
	}
	done(CatalogFile, "made anew")
	return nil
}

// clean removes files that killed programs left, and calls done for each of their batches.
func clean(store string, done func(where, what string)) {
	left := storedir.FindAttempts(store).Abandoned
	storedir.Clean(store)
	still := storedir.FindAttempts(store).Abandoned
	for _, name := range left {
		if !slices.Contains(still, name) {
			done(name, "removed, since a killed program left it")
		}
	}
}

func (p *CheckReport) repair(ctx context.Context, store string, done func(where, what string)) error {
	remove := p.extra
	for _, batch := range p.damaged {
		own, restored, err := storedir.RestoreCommitName(store, batch)
		if err != nil {
			return fmt.Errorf("batch %s: %w", batch, err)
		}
		if restored {
			done(path.Join(storedir.CommitsDir, batch+".json"), "renamed to "+own+".json, the name under which it was written")
			continue
		}
		if own != "" || !storedir.IsBatch(batch) { // a copy of another commit, or one without experiments
			if storedir.IsCache(store) { // it would be downloaded again
				continue
			}
			remove = append(remove, path.Join(storedir.CommitsDir, batch+".json"))
			continue
		}
		ids, err := storedir.MarkForReingest(store, batch, experimentsIn(ctx, store, &storedir.CommitFile{Batch: batch}))
		if err != nil {
			return fmt.Errorf("batch %s: %w", batch, err)
		}
		for _, id := range ids {
			done("experiment "+id, "left out until its recording is ingested again")
		}
		if len(ids) == 0 {
			done("batch "+batch, "left out until its recordings are ingested again")
		}
	}
	for _, name := range remove {
		removed, err := storedir.RemoveOrphan(store, name)
		if err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
		if removed {
			done(name, "removed")
		}
	}
	return nil
}
