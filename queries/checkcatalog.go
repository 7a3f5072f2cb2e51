package queries

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"stackmill/internal/tempdir"
	"stackmill/schema/storedir"
)

// checkCatalog checks the catalog's file. It may be missing or out of date, because the next reader
// then replaces it. If it has the store's fingerprint, its content must be right.
func (p *CheckReport) checkCatalog(ctx context.Context, store string, batches []storedir.Batch, intact bool) error {
	switch err := storedir.IsRegular(filepath.Join(store, CatalogFile)); {
	case errors.Is(err, fs.ErrNotExist):
		p.note(CatalogFile, "is missing: the next reader creates it")
		return nil
	case errors.Is(err, storedir.ErrNotRegular):
		p.add(CatalogFile, "cannot be read: the next reader rebuilds it (%v)", storedir.ErrNotRegular)
		return nil
	case err != nil:
		return err
	}
	db, found, err := readCatalog(ctx, store, engineConfig{}, nil)
	if isHostError(err) {
		return err
	}
	if err != nil {
		p.add(CatalogFile, "cannot be read: the next reader rebuilds it (%v)", err)
		return nil
	}
	defer db.Close()
	d := define(store, batches, experimentsOf(batches), columnForm{})
	switch {
	case found != d.fingerprint:
		p.note(CatalogFile, "is out of date: the next reader rebuilds it")
		return nil
	case !intact:
		return nil
	}
	return p.compareCatalog(ctx, db, d)
}

// compareCatalog compares a catalog with a newly made one that has the definitions d.
func (p *CheckReport) compareCatalog(ctx context.Context, db *sql.DB, d *definitions) error {
	temp, err := tempdir.Make("catalog")
	if err != nil {
		return err
	}
	defer temp.Remove()
	if err := writeCatalog(filepath.Join(temp.Path, CatalogFile), d); err != nil {
		return err
	}
	own, _, err := readCatalog(ctx, temp.Path, engineConfig{}, nil)
	if err != nil {
		return err
	}
	defer own.Close()
	want, err := catalogContent(ctx, own)
	if err != nil {
		return err
	}
	found, err := catalogContent(ctx, db)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch got, ok := found[name]; {
		case !ok:
			p.add(CatalogFile, "lacks the %s", name)
		case got != want[name]:
			p.add(CatalogFile, "has another definition of the %s than this program", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, ok := want[name]; !ok {
			p.add(CatalogFile, "has the %s, which this program does not define", name)
		}
	}
	return nil
}

// catalogContent returns a catalog's definitions, and hashes of its tables' rows, by kind and name.
func catalogContent(ctx context.Context, db *sql.DB) (map[string]string, error) {
	query := `
		SELECT 'view ' || view_name AS name, sql AS text FROM duckdb_views() WHERE database_name = 'stackmill' AND NOT internal
		UNION ALL SELECT 'table ' || table_name, sql FROM duckdb_tables() WHERE database_name = 'stackmill' AND NOT internal
		UNION ALL SELECT 'macro ' || function_name, concat(parameters::VARCHAR, macro_definition) FROM duckdb_functions() WHERE database_name = 'stackmill' AND NOT internal`
	for _, t := range storeTables {
		query += fmt.Sprintf("\nUNION ALL SELECT 'content of %[1]s', concat(count(*), ' ', bit_xor(hash(%[1]s))) FROM %[1]s", t.name)
	}
	rows, err := recordsOf(ctx, db, query)
	all := map[string]string{}
	for _, r := range rows {
		all[r.Text("name")] = r.Text("text")
	}
	return all, err
}
