package queries

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"stackmill/schema"
	"stackmill/storedir"
	"stackmill/tablefile"
)

// everything is a batch with a file of every table, beside the template that is made
// of them.
func everything() []storedir.Batch {
	b := storedir.Batch{}
	for _, t := range schema.Tables {
		b.Files = append(b.Files, storedir.File{Table: t.Name, Path: t.Name + ".parquet"})
	}
	return []storedir.Batch{b}
}

// fromTemplate opens a copy of the template at path. It makes the template in cache if
// that is missing or cannot be used.
func fromTemplate(ctx context.Context, path, cache string) (*editor, error) {
	d, err := define("", everything(), nil)
	if err != nil {
		return nil, err
	}
	template := filepath.Join(cache, "catalog-"+d.fingerprint+".duckdb")
	if duplicate(template, path) == nil {
		if e, err := edit(ctx, path); err == nil {
			return e, nil
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := makeTemplate(ctx, path); err != nil {
		return nil, err
	}
	_ = keep(path, template) // a cache that cannot be written costs time only
	return edit(ctx, path)
}

// makeTemplate makes a catalog in which every table has a file, without rows. The
// engine looks at the files when the views are made, and never again.
func makeTemplate(ctx context.Context, path string) error {
	dir := filepath.Dir(path)
	for _, t := range schema.Tables {
		if err := emptyFile(filepath.Join(dir, t.Name+".parquet"), t); err != nil {
			return err
		}
	}
	d, err := define(dir, everything(), nil)
	if err != nil {
		return err
	}
	statements, err := d.all()
	if err != nil {
		return err
	}
	return writeCatalog(ctx, path, statements)
}

func emptyFile(path string, t *schema.Table) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, err := tablefile.New(f, t)
	if err == nil {
		err = w.Close()
	}
	return errors.Join(err, f.Close())
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
