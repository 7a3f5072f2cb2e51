//go:build cgo

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/exit"
	"stackmill/internal/objstore"
	"stackmill/queries/lake"
	"stackmill/queries/lake/ducklake"
	"stackmill/queries/lake/iceberg"
)

// lakes are the formats of data lakes: what brings a folder up to date, and says what it did.
var lakes = map[string]func(ctx context.Context, l *lake.Lake, tables []lake.Table) (string, error){
	ducklake.Format: func(ctx context.Context, l *lake.Lake, tables []lake.Table) (string, error) {
		files, err := ducklake.Update(ctx, l, tables)
		return fmt.Sprintf("%d tables, %d files", len(tables), files), err
	},
	iceberg.Format: func(_ context.Context, l *lake.Lake, tables []lake.Table) (string, error) {
		c, err := iceberg.Update(l, tables)
		return fmt.Sprintf("%d of %d tables have changed, by %d files more and %d less", c.Tables, len(tables), c.Added, c.Removed), err
	},
}

// lakeFormats are their names.
var lakeFormats = []string{iceberg.Format, ducklake.Format}

// lakeOptions are the options of an export to a data lake.
type lakeOptions struct {
	location, storeLocation string
	keep                    time.Duration
}

// ofLakes are the flags that go with them.
var ofLakes = []string{"as", "location", "store-location", "keep", "view", "output", "store"}

func (o *lakeOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.location, "location", "", "data lakes: where readers find the folder -o, e.g. s3://bucket/lake (default: its local path)")
	f.StringVar(&o.storeLocation, "store-location", "", "data lakes: where readers find the store (default: its own path or URI)")
	f.DurationVar(&o.keep, "keep", time.Hour, "data lakes: how long earlier snapshots stay readable")
}

// asked reports whether one of the flags is there that only go with them.
func (o *lakeOptions) asked(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"location", "store-location", "keep"}, cmd.Flags().Changed)
}

// exportLake brings the folder of a data lake up to date with the store, in all formats that it
// has.
func (x *exporter) exportLake(cmd *cobra.Command) error {
	other := otherThan(cmd, ofLakes...)
	o := lake.Options{Location: x.lake.location, Store: x.lake.storeLocation, Keep: x.lake.keep, Program: programVersion()}
	if cmd.Flags().Changed("view") {
		o.Views = x.summaries.views
	}
	switch {
	case other != "":
		return exit.Usagef("export: --%s does not go with --as %s", other, x.As)
	case x.output == "" || x.output == "-":
		return exit.Usagef("export: no folder given (name one with -o)")
	case objstore.Is(x.output):
		return exit.Usagef("export: -o: a lake is written here, and copied to %s (with --location %[1]s)", x.output)
	case o.Keep < 0:
		return exit.Usagef("export: --keep: %v is less than 0", o.Keep)
	}
	for flag, uri := range map[string]string{"location": o.Location, "store-location": o.Store} {
		if uri != "" && !strings.Contains(uri, "://") {
			return exit.Usagef("export: --%s: %q is no URI (as s3://bucket/folder)", flag, uri)
		}
	}
	if err := x.updateLake(cmd.Context(), o); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

func (x *exporter) updateLake(ctx context.Context, o lake.Options) error {
	l, err := lake.Open(x.output, o)
	if err != nil {
		return err
	}
	defer l.Close()
	db, err := x.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	tables, err := l.Tables(ctx, db)
	if err != nil {
		return err
	}
	formats := l.Formats(x.As)
	for _, format := range formats {
		update, known := lakes[format]
		if !known {
			return fmt.Errorf("%s has the format %q, which this program does not know", x.output, format)
		}
		did, err := update(ctx, l, tables)
		if err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
		x.Warnf("export: %s: %s", format, did)
	}
	_, err = l.Finish(formats)
	return err
}
