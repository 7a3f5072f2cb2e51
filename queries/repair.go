package queries

import (
	"context"
	"fmt"
	"path"

	"stackmill/schema/storedir"
)

// repairs bounds how often a store is checked again: removing a file may leave others that no
// commit names.
const repairs = 3

// Repair restores renamed commits, removes files that no commit names and what killed programs
// left, leaves damaged experiments out until they are ingested again, and rebuilds the catalog. It
// calls done for each action. It does not repair sums that do not hold.
func Repair(ctx context.Context, store string, done func(where, what string)) error {
	storedir.Clean(store)
	for range repairs {
		p, err := Check(ctx, store, CheckOptions{filesOnly: true})
		if err != nil {
			return err
		}
		if len(p.extra)+len(p.damaged) == 0 {
			break
		}
		if err := p.repair(ctx, store, done); err != nil {
			return err
		}
	}
	if err := Publish(store); err != nil {
		return err
	}
	done(CatalogFile, "made anew")
	return nil
}

func (p *CheckReport) repair(ctx context.Context, store string, done func(where, what string)) error {
	remove := p.extra
	for _, batch := range p.damaged {
		own, restored, err := storedir.RestoreCommitName(store, batch)
		if err != nil {
			return fmt.Errorf("batch %s: %w", batch, err)
		}
		if restored {
			done(path.Join(storedir.CommitsDir, batch+".json"), "renamed "+own+".json, as whose commit it was written")
			continue
		}
		if own != "" || !storedir.IsBatch(batch) { // a copy, or without experiments
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
