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
	"strings"

	"stackmill/storedir"
)

// publishings bounds how often a catalog is made again because others have committed.
const publishings = 20

// Publish brings the store's catalog up to date with its commits. Most of it is the
// same for every store and is kept in the directory cache; without one it is made
// each time. Of several processes that commit and publish at once, the last leaves a
// complete catalog. The error is storedir.ErrNoStore if there is no store.
func Publish(ctx context.Context, store, cache string) error {
	return bring(ctx, store, cache, false)
}

// Refresh is Publish, unless the store's catalog is that of its commits already. To see
// that takes no SQL engine, which takes longer to start than an ingest of nothing new.
func Refresh(ctx context.Context, store, cache string) error {
	return bring(ctx, store, cache, true)
}

// marked reports whether a catalog's file has a fingerprint, which stands there as plain
// text, twice, in the definition of a view. Catalogs are never changed, only replaced.
func marked(path, fingerprint string) bool {
	content, err := os.ReadFile(path)
	return err == nil && bytes.Contains(content, []byte(fingerprint))
}

// bring publishes until no commit comes in between; keep says that a catalog may stay
// that is up to date.
func bring(ctx context.Context, store, cache string, keep bool) error {
	for range publishings {
		before, err := storedir.Batches(store)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		absolute, c, err := committed(store)
		if err != nil {
			return err
		}
		tables, fingerprint, err := tableViews(absolute, c.Commits, uniqueNames(c.Commits))
		if err != nil || keep && marked(filepath.Join(absolute, CatalogFile), fingerprint) {
			return err
		}
		if err := publish(ctx, absolute, cache, tables); err != nil {
			return err
		}
		// The catalog that ours replaced may have had more commits.
		after, err := storedir.Batches(store)
		if err != nil {
			return err
		}
		if slices.Equal(before, after) {
			return nil
		}
	}
	return nil // the next reader makes it
}

// publish writes a catalog with these views of the plain tables under a
// temporary name and renames it.
func publish(ctx context.Context, store, cache string, tables []string) error {
	temp, err := storedir.NewScratch(store)
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	defer temp.Remove()
	path := filepath.Join(temp.Dir, CatalogFile)
	err = fill(ctx, path, cache, tables)
	if err == nil {
		err = storedir.Place(path, filepath.Join(store, CatalogFile))
	}
	if err != nil {
		return fmt.Errorf("catalog of %s: %w", store, err)
	}
	return nil
}

// fill writes a catalog to path. It makes the template in cache if that cannot be used.
func fill(ctx context.Context, path, cache string, tables []string) error {
	empty, fingerprint, err := tableViews("", nil, nil)
	if err != nil {
		return err
	}
	template := filepath.Join(cache, "catalog-"+fingerprint+".duckdb")
	if cache != "" && duplicate(template, path) == nil && define(ctx, path, tables) == nil {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	views, err := derived()
	if err != nil {
		return err
	}
	if err := define(ctx, path, append(empty, views...)); err != nil {
		return err
	}
	if cache != "" {
		_ = keep(path, template) // a cache that cannot be written costs time only
	}
	return define(ctx, path, tables)
}

// keep puts a copy of a file into a cache; it is complete or not there.
func keep(path, kept string) error {
	cache := filepath.Dir(kept)
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return err
	}
	storedir.CleanScratch(cache)
	temp, err := storedir.NewScratch(cache)
	if err != nil {
		return err
	}
	defer temp.Remove()
	part := filepath.Join(temp.Dir, CatalogFile)
	if err := duplicate(path, part); err != nil {
		return err
	}
	return storedir.Place(part, kept)
}

func duplicate(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o666) // not a private file, as os.CreateTemp makes
}

// define runs statements that define views in the catalog at path, as one script:
// each call of the engine costs time.
func define(ctx context.Context, path string, statements []string) error {
	db, err := connect(access{Limits: Limits{Threads: 1}}, nil, nil) // more would wait for each other
	if err != nil {
		return err
	}
	defer db.Close()
	run := append([]string{"ATTACH " + quote(path) + " AS " + catalogName, "USE " + catalogName, "BEGIN"}, statements...)
	run = append(run, "COMMIT", "USE memory", "DETACH "+catalogName)
	return execute(ctx, db, []string{strings.Join(run, "\n;\n")})
}
