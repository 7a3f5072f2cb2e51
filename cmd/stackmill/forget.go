//go:build cgo

package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/queries"
	"stackmill/queries/forget"
	"stackmill/queries/result"
	"stackmill/queries/text"
	"stackmill/schema/storedir"
)

// forgetter runs `stackmill forget`.
type forgetter struct {
	*app
	olderThan   string
	age         time.Duration
	rollupsOnly bool
	dry         bool
	format      string
	limit       int
	chosen      selection
}

func newForgetCommand(a *app) *cobra.Command {
	f := &forgetter{app: a}
	c := &cobra.Command{
		Use:   "forget [SELECTOR]...",
		Short: "Delete experiments",
		Long: `Deletes the selected experiments from the store. A SELECTOR is
` + queries.SelectorHelp + `.

Reports and queries no longer see them, and ingest skips their recordings, unless you
call it with --forgotten. --older-than selects only experiments recorded longer ago (or, if
that time is unknown, ingested), among all experiments if there is no SELECTOR. With
--keep-rollups, their sums by function (table "function_rollup") stay, and their rows in
"experiments", "processes", "metrics", "load_objects" and "problems".

If all experiments of a batch were deleted or replaced, an ingest removes its files after an
hour. Rows in other batches are removed when these are compacted.`,
		Example: `  stackmill forget test.1.er
  stackmill forget --older-than 90d --keep-rollups
  stackmill forget 'night-*/*.er,host=web7' --older-than 2w --dry-run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, selectors []string) error {
			selectors = f.chosen.with(selectors)
			if err := f.check(cmd, selectors); err != nil {
				return err
			}
			return named("forget", f.run(cmd.Context(), selectors))
		},
	}
	f.addSelection(c, &f.chosen)
	c.Flags().StringVar(&f.olderThan, "older-than", "", "only experiments recorded longer ago, e.g. 90d, 2w or 36h")
	checkValue(c.Flags(), "older-than", func() (err error) {
		f.age, err = forget.ParseAge(f.olderThan)
		return err
	})
	c.Flags().BoolVar(&f.rollupsOnly, "keep-rollups", false, "keep the experiments' descriptions and their sums by function")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "list what would be deleted, and change nothing")
	limitVar(c, &f.limit, 0, "list this many experiments (0: all)")
	formatVar(c, &f.format, strings.Join(result.Formats, ", "), result.Formats...)
	return c
}

// check checks the flags.
func (f *forgetter) check(cmd *cobra.Command, selectors []string) error {
	switch {
	case f.olderThan == "" && len(selectors) == 0:
		return exit.Usagef("forget: no experiments chosen (give a SELECTOR or --older-than)")
	case cmd.Flags().Changed("limit") && !f.lists():
		return exit.Usagef("forget: --limit: no experiments are listed (it applies to --dry-run, and to other formats than table)")
	}
	return nil
}

func (f *forgetter) run(ctx context.Context, selectors []string) error {
	list, err := forget.Find(ctx, forget.Request{
		Store: f.store, Selectors: selectors, HasAge: f.olderThan != "", Age: f.age, RollupsOnly: f.rollupsOnly, WithTimes: f.lists(), Open: f.open,
	})
	if err != nil {
		return err
	}
	done := "would be deleted"
	if !f.dry {
		done = "deleted"
		if len(list) > 0 {
			err = f.changeStore(ctx, func(c *storedir.Contents) error { return forget.Commit(c, list, f.rollupsOnly, programVersion()) })
		}
		if err != nil {
			return err
		}
	}
	if f.rollupsOnly {
		done = strings.Replace(done, "deleted", "reduced to summaries", 1)
	}
	if f.lists() {
		if err := f.print(list); err != nil {
			return err
		}
	}
	if f.format != "table" {
		return nil
	}
	var samples, bytes int64
	for _, e := range list {
		samples += e.Samples
		bytes += e.Bytes
	}
	return f.Printf("%s %s: %d samples, about %d bytes of files\n", text.Plural(len(list), "experiment"), done, samples, bytes)
}

// lists reports whether the experiments are printed.
func (f *forgetter) lists() bool { return f.dry || f.format != "table" }

// print lists the experiments.
func (f *forgetter) print(list []forget.Experiment) error {
	p := result.Limit(&f.Output, f.format, f.limit)
	fields := []result.Field{{Name: "experiment"}, {Name: "recorded", Kind: "TIMESTAMP"}, {Name: "samples", Kind: "BIGINT", Numeric: true},
		{Name: "bytes", Kind: "BIGINT", Numeric: true}, {Name: "path"}, {Name: "experiment_id"}}
	if err := p.Header(fields); err != nil {
		return err
	}
	for _, e := range list {
		if err := p.Row([]any{e.Name, e.Started, e.Samples, e.Bytes, e.Path, e.ExperimentID}); err != nil {
			return err
		}
	}
	return p.Close()
}
