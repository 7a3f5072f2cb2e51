//go:build cgo

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/exit"
	"stackmill/queries/export/increment"
)

// summaries are the options of an export of summary views to a folder.
type summaries struct {
	wanted, watch bool
	views         []string
	interval      time.Duration
}

// summaryFlags are the flags that apply to summaries.
var summaryFlags = []string{"summaries", "watch", "view", "interval", "output", "store"}

func (s *summaries) addTo(f *pflag.FlagSet) {
	f.BoolVar(&s.wanted, "summaries", false, "write views as Parquet files to the folder -o, or update them there")
	f.BoolVar(&s.watch, "watch", false, "with --summaries: keep updating until a signal")
	f.StringSliceVar(&s.views, "view", increment.DefaultViews, "with --summaries: which views, with the column experiment_id. Data lakes: additional tables")
	f.DurationVar(&s.interval, "interval", 10*time.Second, "with --watch: how often to look at the store")
	positive(f, "interval", &s.interval)
}

// asked reports whether a flag was given that applies to summaries only.
func (s *summaries) asked(cmd *cobra.Command) bool {
	return s.wanted || cmd.Flags().Changed("watch") || cmd.Flags().Changed("view") || cmd.Flags().Changed("interval")
}

// exportSummaries updates the folder from the store, once or, with --watch, until the context ends.
func (x *exporter) exportSummaries(cmd *cobra.Command) error {
	s := &x.summaries
	other := otherThan(cmd, summaryFlags...)
	switch {
	case !s.wanted:
		return exit.Usagef("export: --watch, --view and --interval need --summaries")
	case other != "":
		return exit.Usagef("export: --%s cannot be combined with --summaries", other)
	case cmd.Flags().Changed("interval") && !s.watch:
		return exit.Usagef("export: --interval: it needs --watch")
	case x.output == "" || x.output == "-":
		return exit.Usagef("export: no folder given (name one with -o)")
	case len(s.views) == 0:
		return exit.Usagef("export: no view given (name some with --view)")
	}
	f, err := increment.Open(filepath.Clean(x.output), s.views, programVersion())
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer f.Close()
	if !s.watch {
		return x.update(cmd.Context(), f)
	}
	x.endsItself.Store(true)
	update := func(ctx context.Context) error { return x.update(ctx, f) }
	return increment.Follow(cmd.Context(), x.store, s.interval, update, func(err error) { x.Warnf("%v", err) })
}

// update updates the folder from the store and prints what changed.
func (x *exporter) update(ctx context.Context, f *increment.Folder) error {
	db, err := x.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := f.Update(ctx, db)
	if c != (increment.Change{}) {
		x.Warnf("export: experiments: %d new, %d changed, %d gone; file sets: %d written, %d removed", c.Added, c.Changed, c.Removed, c.Written, c.Deleted)
	}
	return named("export", err)
}
