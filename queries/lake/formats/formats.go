//go:build cgo

// Package formats writes data lakes in every format.
package formats

import (
	"context"
	"fmt"

	"stackmill/queries"
	"stackmill/queries/lake"
	"stackmill/queries/lake/ducklake"
	"stackmill/queries/lake/iceberg"
)

// updates has the functions that bring a folder up to date, by format. They return what changed.
var updates = map[string]func(ctx context.Context, l *lake.Lake, tables []lake.Table) (string, error){
	ducklake.Format: func(ctx context.Context, l *lake.Lake, tables []lake.Table) (string, error) {
		files, err := ducklake.Update(ctx, l, tables)
		return fmt.Sprintf("%d tables, %d files", len(tables), files), err
	},
	iceberg.Format: func(_ context.Context, l *lake.Lake, tables []lake.Table) (string, error) {
		c, err := iceberg.Update(l, tables)
		return fmt.Sprintf("%d of %d tables have changed: %d files added, %d removed", c.Tables, len(tables), c.Added, c.Removed), err
	},
}

// Names are the formats of data lakes.
var Names = []string{iceberg.Format, ducklake.Format}

// Update brings the folder of a data lake up to date with a store: in the given format, and in those
// that the folder has already. It prints what changed.
func Update(ctx context.Context, folder, format string, o lake.Options, open func(context.Context) (*queries.DB, error), print func(format string, args ...any)) error {
	l, err := lake.Open(folder, o)
	if err != nil {
		return err
	}
	defer l.Close()
	db, err := open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	tables, err := l.Tables(ctx, db)
	if err != nil {
		return err
	}
	formats := l.Formats(format)
	for _, format := range formats {
		update, known := updates[format]
		if !known {
			return fmt.Errorf("%s has the format %q, which this program does not know", folder, format)
		}
		did, err := update(ctx, l, tables)
		if err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
		print("export: %s: %s", format, did)
	}
	_, err = l.Finish(formats)
	return err
}
