//go:build cgo

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"stackmill/pipeline/runner"
	"stackmill/queries"
	"stackmill/schema/storedir"
)

// resymbolizer runs `stackmill resymbolize`.
type resymbolizer struct {
	ingester
	dry    bool
	format string
	chosen selection
}

func newResymbolizeCommand(a *app) *cobra.Command {
	r := &resymbolizer{ingester: newIngester(a, "resymbolize")}
	c := &cobra.Command{
		Use:   "resymbolize [SELECTOR]...",
		Short: "Apply better symbols to experiments in the store",
		Long: `Looks for symbols and debug information of the load objects of experiments in the store.
Where it finds more than at the ingest, it computes everything that depends on them
again: functions, lines, stacks in each mode, data objects, and all values. It does not
need the recordings. Everything else stays unchanged.

A SELECTOR is ` + queries.SelectorHelp + `.
Without any, all experiments are examined.

An experiment is left unchanged if fewer symbols are found now for a load object on its
stacks, or a different file: say where the right file is (--symfs, --debug-dir). Symbol lists of
generated code are used if --perf-map-dir names their folder. Stacks that perf recorded
as dumps were unwound at the ingest; they do not become longer.

Exit status: 0 done, or nothing to do; 3 some experiments failed, with the reasons;
1 nothing could be done; 2 wrong usage.`,
		Example: `  stackmill resymbolize --symfs /build/sysroot
  stackmill resymbolize 'night-*' --debug-dir /srv/debug --dry-run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.check(); err != nil {
				return err
			}
			return r.run(cmd.Context(), r.chosen.with(args))
		},
	}
	r.addSelection(c, &r.chosen)
	r.addCommonFlags(c)
	c.Flags().BoolVar(&r.dry, "dry-run", false, "list what would change, and change nothing")
	formatVar(c, &r.format, "table or json", "table", "json")
	return c
}

func (r *resymbolizer) run(ctx context.Context, selectors []string) error {
	wanted, err := r.wanted(ctx, selectors)
	if err != nil {
		return fmt.Errorf("resymbolize: %w", err)
	}
	r.endsItself.Store(true)
	return r.Resymbolize(ctx, runner.Resymbolization{Wanted: wanted, DryRun: r.dry, JSON: r.format == "json"})
}

// wanted returns a function that reports whether to resymbolize an experiment; nil for all.
func (r *resymbolizer) wanted(ctx context.Context, selectors []string) (func(*storedir.Entry) bool, error) {
	if len(selectors) == 0 {
		return nil, nil
	}
	db, err := r.open(ctx, selectors...)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	ids := map[string]bool{}
	for _, e := range db.Experiments() {
		ids[e.ExperimentID] = true
	}
	return func(e *storedir.Entry) bool { return ids[e.ExperimentID] }, nil
}
