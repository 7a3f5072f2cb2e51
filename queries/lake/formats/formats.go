//go:build cgo

// Package formats exports data lakes in any of the formats.
package formats

import (
	"context"
	"fmt"

	"stackmill/queries"
	"stackmill/queries/lake"
	"stackmill/queries/lake/ducklake"
	"stackmill/queries/lake/iceberg"
)

// updates has, by format, the function that updates a lake's folder. It returns a text about what changed.
var updates = map[string]func(ctx context.Context, l *lake.Lake, tables []lake.Table) (string, error){
	ducklake.Format: func(ctx context.Context, l *lake.Lake, tables []lake.Table) (string, error) {
		files, err := ducklake.Update(ctx, l, tables)
		return queries.Count(len(tables), "table") + ", " + queries.Count(files, "file"), err
	},
	iceberg.Format: func(_ context.Context, l *lake.Lake, tables []lake.Table) (string, error) {
		c, err := iceberg.Update(l, tables)
		return fmt.Sprintf("%d of %s changed: %s added, %d removed", c.Tables, queries.Count(len(tables), "table"), queries.Count(c.Added, "file"), c.Removed), err
	},
}

// Names are the formats of data lakes.
var Names = []string{iceberg.Format, ducklake.Format}

// Update updates the folder of a data lake from a store: in the given format, and in those that the folder has
// already. It prints what changed.
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
			return fmt.Errorf("%s has the format %q, which this version of stackmill does not support", folder, format)
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
