//go:build cgo

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/report"
	"stackmill/queries/result"
	"stackmill/queries/text"
	"stackmill/queries/trend"
)

// trendPrinter runs `stackmill trend`.
type trendPrinter struct {
	*app
	trend.Request
	chosen    selection
	selectors []string
	filter    queries.Filter
	points    int
	format    string
}

// defaultTrendPoints is the number of values that are printed without --points. If there are several
// series, no values are printed.
const defaultTrendPoints = 10

func newTrendCommand(a *app) *cobra.Command {
	r := &trendPrinter{app: a, Request: trend.Defaults()}
	c := &cobra.Command{
		Use:   "trend [SELECTOR]...",
		Short: "Show a value over the nights, and since when it has changed",
		Long: `Prints the values of functions, or of <Total>, over the selected experiments (default: all)
in the order in which they were made: a line that draws them, the changes of their level,
and the newest values. A SELECTOR is
` + queries.SelectorHelp + `.

A rank test finds the changes from night to night: where nothing changed, it finds one in at
most 1 of 100 series. A change has the median before and after, and the first experiment at
the new level; it is "sure", or "maybe" if it is so new that the next nights have to confirm
it. Experiments of one date, or of one value that orders them, are one night.

--order label=NAME orders the experiments by a label (dates by date, numbers by number)
instead of their start; each experiment remains a value of its own. --by label=NAME makes a
series for each value of a label, such as programs or machines. Both also take a column of
"experiments": --by target, --by host.`,
		Example: `  stackmill trend
  stackmill trend host=web7 --function parse --inclusive
  stackmill trend --by target --points 5
  stackmill trend 'nightly-*' --order label=night --format csv
  stackmill trend --function '^alloc' --metric heapallocbytes --normalise run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.selectors = r.chosen.with(args)
			if err := r.check(cmd); err != nil {
				return exit.Usagef("trend: %w", err)
			}
			return named("trend", r.run(cmd.Context(), cmd.Flags().Changed("points")))
		},
	}
	f := c.Flags()
	a.addSelection(c, &r.chosen)
	f.StringVar(&r.Function, "function", "", "functions of this name; failing that, those whose name contains it or matches it as a regular expression (default: <Total>)")
	f.StringVar(&r.Metric, "metric", "", "the metric (default: the default metric of most of the experiments)")
	f.StringVar(&r.Mode, "mode", r.Mode, "user, expert or machine")
	f.BoolVar(&r.Inclusive, "inclusive", false, "inclusive values, not exclusive ones")
	f.StringVar(&r.Normalize, "normalise", r.Normalize, "values as they are (none), as shares of their run's <Total> (total), or per second of their run (run)")
	f.IntVar(&r.Limit, "limit", r.Limit, "at most this many functions, with the highest sums")
	f.StringVar(&r.Order, "order", r.Order, "what orders the experiments: started, label=NAME, or another column of \"experiments\"")
	f.StringVar(&r.By, "by", "", "a series for each value of label=NAME, or of a column of \"experiments\"")
	f.IntVar(&r.points, "points", 0, "print this many values of each series, the newest (0: all; default for tables: 10, or none if there are several series)")
	atLeast(f, "points", &r.points, 0)
	atLeast(f, "limit", &r.Limit, 1)
	addFilter(c, &r.filter)
	formatVar(c, &r.format, "table, csv, json, ndjson or markdown", "table", "csv", "json", "ndjson", "markdown")
	oneOf(c, "mode", "mode", report.Modes)
	oneOf(c, "normalise", "normalization", compare.Normalizations)
	const keys = "SELECT DISTINCT 'label=' || label FROM labels UNION ALL VALUES ('target'), ('host')"
	a.completeFromStore(c, "order", keys+", ('started') ORDER BY ALL")
	a.completeFromStore(c, "by", keys+" ORDER BY ALL")
	a.completeFromStore(c, "metric", "SELECT DISTINCT metric FROM metrics ORDER BY ALL")
	return c
}

func (r *trendPrinter) check(cmd *cobra.Command) error {
	if cmd.Flags().Changed("limit") && r.Function == "" {
		return errors.New("--limit needs --function: without a function, only <Total> is shown")
	}
	if r.Function == "" && len(r.filter.Hide)+len(r.filter.APIOnly) > 0 {
		return errors.New("--hide and --api-only need --function: the values of <Total> do not depend on functions")
	}
	if cmd.Flags().Changed("points") && r.format == "json" {
		return errors.New("--points has no effect on --format json, which has all values (ndjson and csv have as many as you choose)")
	}
	r.filter.Mode = r.Mode
	return r.Check()
}

func (r *trendPrinter) run(ctx context.Context, pointsGiven bool) error {
	store, err := r.open(ctx, r.selectors...)
	if err != nil {
		return err
	}
	defer store.Close()
	db, closing, err := r.filterStore(ctx, store, r.filter, r.Reads()...)
	if err != nil {
		return err
	}
	defer closing()
	t, err := trend.Run(ctx, db, r.Request)
	if err != nil {
		return err
	}
	switch r.format {
	case "json":
		return terminal.PrintJSON(r.Stdout, t.Object(), true)
	case "table", "markdown":
		form := text.TrendForm{Points: r.points, Markdown: r.format == "markdown", UTF8: terminal.UTF8()}
		if !pointsGiven {
			if form.Points = defaultTrendPoints; len(t.Series) > 1 {
				form.Points = -1
			}
		}
		return text.Trend(&r.Output, t, form)
	}
	for _, w := range t.Warnings {
		r.Warnf("%s", w)
	}
	return t.Print(result.New(&r.Output, r.format), r.points)
}
