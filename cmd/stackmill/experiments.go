//go:build cgo

package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/queries"
	"stackmill/queries/result"
	"stackmill/queries/text"
)

func newExperimentsCommand(a *app) *cobra.Command {
	var format string
	var wide bool
	var limit int
	var chosen selection
	c := &cobra.Command{
		Use:   "experiments [SELECTOR]...",
		Short: "List the experiments in the store",
		Long: `Lists the experiments in the store, or the selected ones. A SELECTOR is
` + queries.SelectorHelp + `.

csv, json and ndjson give every column of the view "experiments" and the numbers of
errors and warnings.`,
		Example: `  stackmill experiments
  stackmill experiments 'night-*/*.er' host=web7
  stackmill experiments --format json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, selectors []string) error {
			if wide && format != "table" && format != "markdown" {
				return exit.Usagef("experiments: --wide: %s always has the paths", format)
			}
			return named("experiments", a.printExperiments(cmd.Context(), format, chosen.with(selectors), wide, limit))
		},
	}
	a.addSelection(c, &chosen)
	limitVar(c, &limit, 0, "print this many experiments (0: all)")
	c.Flags().BoolVar(&wide, "wide", false, "also print paths")
	formatVar(c, &format, strings.Join(result.Formats, ", "), result.Formats...)
	return c
}

func (a *app) printExperiments(ctx context.Context, format string, selectors []string, wide bool, limit int) error {
	db, err := a.open(ctx, selectors...)
	if err != nil {
		return err
	}
	defer db.Close()
	if format != "table" && format != "markdown" {
		rows, err := db.ListExperiments(ctx)
		if err != nil {
			return err
		}
		return result.Print(result.Limit(&a.Output, format, limit), rows)
	}
	return text.Experiments(ctx, &a.Output, db, wide, format, limit)
}
