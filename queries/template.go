package queries

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"stackmill/storedir"
)

// fromTemplate opens a copy of the template, the catalog of an empty store, at path. It
// makes the template in cache if that is missing or cannot be used.
func fromTemplate(ctx context.Context, path, cache string) (*editor, error) {
	d, err := define("", nil, nil)
	if err != nil {
		return nil, err
	}
	template := filepath.Join(cache, "catalog-"+d.fingerprint+".duckdb")
	if duplicate(template, path) == nil {
		if e, err := editMade(ctx, path, d); err == nil {
			return e, nil
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := writeCatalog(ctx, path, d); err != nil {
		return nil, err
	}
	_ = keep(path, template) // a cache that cannot be written costs time only
	return editMade(ctx, path, d)
}

// editMade opens the catalog at path that definitions have made.
func editMade(ctx context.Context, path string, d *definitions) (*editor, error) {
	e, err := edit(ctx, path)
	if err == nil {
		e.changes = d.changes("")
	}
	return e, err
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
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := os.Create(to) // not a private file, as os.CreateTemp makes
	if err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return errors.Join(err, t.Close())
}
