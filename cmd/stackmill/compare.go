//go:build cgo

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/console"
	"stackmill/queries/html"
	"stackmill/queries/report"
	"stackmill/queries/result"
	"stackmill/queries/text"
)

// comparer runs `stackmill compare`.
type comparer struct {
	*app
	compare.Request
	filter queries.Filter
	limit  int
	format string
}

// defaultComparedRows is the default of --limit for tables.
const defaultComparedRows = 25

func newCompareCommand(a *app) *cobra.Command {
	r := &comparer{app: a, Request: compare.Defaults()}
	c := &cobra.Command{
		Use:   "compare --base SELECTOR --test SELECTOR",
		Short: "Compare two experiments, or two groups of them",
		Long: `Compares the experiments that --test selects with those of --base, row by row: medians
over the runs of each side, their difference, the ratio of test to base with a
confidence interval, and a verdict. A SELECTOR is
` + queries.SelectorHelp + `;
repeat an option to add to its group.

Verdicts are "slower", "faster", "appeared", "vanished", "same", and "too few runs" if no
difference, however large, could be distinguished from chance. With several runs on both
sides they come from a rank test; if a side has one run, from the sampling noise. --fdr
bounds the share of false discoveries among the rows that are called different. A run
that does not have a function counts as 0. docs/compare.md explains all numbers.`,
		Example: `  stackmill compare --base before.er --test after.er
  stackmill compare --base night=2026-11-20 --test night=2026-11-21 --limit 10
  stackmill compare --base v1 --test v2 --where "stack_has('parse')" --by path
  stackmill compare --base 'v1-*.data' --test 'v2-*.data' --normalise total --format csv
  stackmill compare --base v1 --test v2 --format html > v2.html`,
		Args: twoSides,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.check(cmd); err != nil {
				return exit.Usagef("compare: %w", err)
			}
			return named("compare", r.run(cmd.Context()))
		},
	}
	a.addComparison(c, &r.Request)
	addFilter(c, &r.filter)
	probabilityVar(c.Flags(), &r.FDR, "fdr", "false discovery rate among the rows that are called different")
	probabilityVar(c.Flags(), &r.Level, "level", "confidence level of the intervals")
	shareVar(c.Flags(), &r.MinChange, "min-change", "treat smaller changes as the same")
	limitVar(c, &r.limit, 0, fmt.Sprintf("print this many rows (0: all; default for tables: %d, for html: %d)", defaultComparedRows, 4*defaultComparedRows))
	formatVar(c, &r.format, strings.Join(documentFormats, ", "), documentFormats...)
	return c
}

// twoSides refuses arguments, because the experiments of a comparison have two roles.
func twoSides(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("unexpected argument %q: --base and --test select experiments", args[0])
	}
	return fmt.Errorf("unexpected arguments: --base and --test select experiments (write --base %s --test %s)", args[0], args[1])
}

// addComparison adds the flags of a comparison.
func (a *app) addComparison(c *cobra.Command, r *compare.Request) {
	f := c.Flags()
	f.StringArrayVar(&r.Base, "base", nil, "the reference; may be repeated: "+queries.SelectorHelp+"; or "+compare.LastGood+", the newest accepted runs before the test's")
	f.StringArrayVar(&r.Test, "test", nil, "the experiments to compare with the reference; may be repeated")
	f.StringVar(&r.By, "by", r.By, "what to compare: "+strings.Join(compare.Subjects, ", "))
	f.StringVar(&r.Metric, "metric", "", "the metric (default: the default metric of most of the experiments)")
	f.StringVar(&r.Mode, "mode", r.Mode, "user, expert or machine")
	f.BoolVar(&r.Inclusive, "inclusive", false, "compare inclusive values, not exclusive ones")
	f.StringVar(&r.Normalize, "normalise", r.Normalize, "values as they are (none), as shares of their run's <Total> (total), or per second of their run (run)")
	f.StringVar(&r.Pair, "pair", "", "compare runs of both sides pairwise that have the same value of a label or column (label=round)")
	f.StringVar(&r.Block, "block", r.Block, "compare only runs with the same value of a label or column (host, label=machine); auto: of host, if both sides have the same several ones; none: all with all")
	shareVar(f, &r.MinShare, "min-share", "do not judge rows with a smaller share of <Total>")
	oneOf(c, "by", "subject", compare.Subjects)
	oneOf(c, "normalise", "normalization", compare.Normalizations)
	oneOf(c, "mode", "mode", report.Modes)
	a.completeFromStore(c, "base", "SELECT experiment FROM experiment_names ORDER BY ALL")
	a.completeFromStore(c, "test", "SELECT experiment FROM experiment_names ORDER BY ALL")
	a.completeFromStore(c, "metric", "SELECT DISTINCT metric FROM metrics ORDER BY ALL")
}

func (r *comparer) check(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("limit") {
		r.limit = map[string]int{"table": defaultComparedRows, "html": 4 * defaultComparedRows}[r.format]
	}
	if err := r.Check(); err != nil {
		return err
	}
	return conditions(&r.Request, &r.filter)
}

// conditions sets the mode of the filter, and the filter of the comparison.
func conditions(r *compare.Request, f *queries.Filter) error {
	f.Mode = r.Mode
	return r.Choose(f)
}

// run compares, and prints the result.
func (r *comparer) run(ctx context.Context) error {
	var compared *compare.Result
	err := r.compared(ctx, &r.Request, r.filter, r.Reads(), func(db *queries.DB) (err error) {
		compared, err = compare.Run(ctx, db, r.Request)
		return err
	})
	if err != nil {
		return err
	}
	rows := compared.Rows
	if r.limit > 0 && r.limit+1 < len(rows) { // +1: <Total> does not count
		rows = rows[:r.limit+1]
	}
	switch r.format {
	case "json":
		object, err := compared.Object(rows)
		if err != nil {
			return err
		}
		return terminal.PrintJSON(r.Stdout, object, true)
	case "table":
		return text.Comparison(&r.Output, compared, rows)
	case "html":
		return html.Write(r.Stdout, text.ComparisonDocument(compared, rows))
	}
	for _, w := range append(text.Unfair(compared), compared.Warnings...) {
		r.Warnf("%s", w)
	}
	if r.format == "markdown" {
		fields, cells := text.ComparisonCells(compared, rows)
		return r.Table(fields, cells, true)
	}
	return compared.Print(result.New(&r.Output, r.format), rows)
}

// wholeStore calls do with all experiments of the store.
func (a *app) wholeStore(ctx context.Context, do func(*queries.DB) error) error {
	db, err := queries.OpenWith(ctx, a.store, queries.Options{Limits: a.Limits})
	if err != nil {
		return fmt.Errorf("open the store: %w", console.NoStore(a.store, err))
	}
	defer db.Close()
	return do(db)
}

// compared opens the store, applies the filter and calls do with the experiments to compare.
func (a *app) compared(ctx context.Context, r *compare.Request, f queries.Filter, reads []string, do func(*queries.DB) error) error {
	if r.UsesLastGood() {
		if err := a.wholeStore(ctx, func(db *queries.DB) error { return r.ResolveLastGood(ctx, db) }); err != nil {
			return err
		}
	}
	store, err := a.open(ctx, slices.Concat(r.Base, r.Test)...)
	if err != nil {
		return err
	}
	defer store.Close()
	db, closing, err := a.filterStore(ctx, store, f, reads...)
	if err != nil {
		return err
	}
	defer closing()
	r.Hidden = db.HiddenFunctions()
	return do(db)
}
