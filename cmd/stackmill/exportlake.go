//go:build cgo

package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/exit"
	"stackmill/internal/objstore"
	"stackmill/queries"
	"stackmill/queries/lake"
	"stackmill/queries/lake/formats"
)

// lakeOptions are the options of an export to a data lake.
type lakeOptions struct {
	location, storeLocation string
	keep                    time.Duration
}

// lakeFlags are the flags that apply to data lakes.
var lakeFlags = []string{"as", "location", "store-location", "keep", "view", "output", "store"}

func (o *lakeOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.location, "location", "", "data lakes: where readers find the folder -o, e.g. s3://bucket/lake (default: its local path)")
	f.StringVar(&o.storeLocation, "store-location", "", "data lakes: where readers find the store (default: its own path or URI)")
	f.DurationVar(&o.keep, "keep", time.Hour, "data lakes: how long earlier snapshots stay readable")
	atLeast(f, "keep", &o.keep, 0)
}

// asked reports whether a flag was given that applies to data lakes only.
func (o *lakeOptions) asked(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"location", "store-location", "keep"}, cmd.Flags().Changed)
}

// exportLake updates the folder of a data lake from the store, in the format of --as and in those
// that it has already.
func (x *exporter) exportLake(cmd *cobra.Command) error {
	other := otherThan(cmd, lakeFlags...)
	o := lake.Options{Location: x.lake.location, Store: x.lake.storeLocation, Keep: x.lake.keep, Program: programVersion()}
	if cmd.Flags().Changed("view") {
		o.Views = x.summaries.views
	}
	switch {
	case other != "":
		return exit.Usagef("export: --%s cannot be combined with --as %s", other, x.As)
	case x.output == "" || x.output == "-":
		return exit.Usagef("export: no folder given (name one with -o)")
	case objstore.Is(x.output):
		return exit.Usagef("export: -o: a lake is written to a local folder (write it with --location %s, and copy the folder there)", x.output)
	}
	for flag, uri := range map[string]string{"location": o.Location, "store-location": o.Store} {
		if uri != "" && !strings.Contains(uri, "://") {
			return exit.Usagef("export: --%s: %q is not a URI (such as s3://bucket/folder)", flag, uri)
		}
	}
	open := func(ctx context.Context) (*queries.DB, error) { return x.open(ctx) }
	return named("export", formats.Update(cmd.Context(), x.output, x.As, o, open, x.Warnf))
}
