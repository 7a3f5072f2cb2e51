//go:build cgo

package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/digest"
	"stackmill/queries/html"
	"stackmill/queries/rank"
	"stackmill/queries/report"
	"stackmill/queries/result"
	"stackmill/queries/text"
)

// digester runs `stackmill digest`.
type digester struct {
	*app
	digest.Request
	chosen selection
	filter queries.Filter
	format string
}

func newDigestCommand(a *app) *cobra.Command {
	r := &digester{app: a, Request: digest.Defaults()}
	c := &cobra.Command{
		Use:   "digest [SELECTOR]...",
		Short: "Report what changed lately, in which program and function, and how sure that is",
		Long: `Follows every program of the store from night to night, and reports what changed since a date:
the last night before the change and the first night with it, the functions, lines and paths
that carry the change, what else differs (builds, hosts, labels), and what to run next.

Experiments are compared within their series: the same program, arguments, events and kind of
machine (the view "series" lists them; --series chooses other columns or labels). A night is the
date (UTC) on which an experiment started; --order label=night orders by a label instead.

A change is "sure" if chance is an unlikely explanation: false discoveries are controlled over
all series (--fdr). It is "maybe" if more nights are needed to be sure. Changes that all
programs of a host have in common (a slow machine), or that many programs have since the same
night (another compiler), are reported once. A SELECTOR is
` + queries.SelectorHelp + `.`,
		Example: `  stackmill digest
  stackmill digest --since 2026-11-21 --format markdown
  stackmill digest branch=main --series label=job,program --order label=night
  stackmill digest --format html > digest.html
  stackmill digest --format json | jq '.sure[].program'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.filter.Mode = r.Mode
			if err := r.Check(); err != nil {
				return exit.Usagef("digest: %w", err)
			}
			return named("digest", r.run(cmd.Context(), r.chosen.with(args)))
		},
	}
	f := c.Flags()
	a.addSelection(c, &r.chosen)
	f.StringVar(&r.Since, "since", r.Since, "tell changes since this night: a date (2026-11-21), or a number of days before the newest night (7d)")
	f.StringVar(&r.Order, "order", r.Order, "what orders experiments: started, or label=KEY")
	f.StringSliceVar(&r.Series, "series", r.Series, "what distinguishes series: columns of the view series, and labels (label=KEY)")
	f.StringVar(&r.Metric, "metric", "", "the metric (default: each experiment's default metric)")
	f.StringVar(&r.Mode, "mode", r.Mode, "user, expert or machine")
	f.IntVar(&r.Nights, "nights", r.Nights, "read this many nights, the newest ones")
	limitVar(c, &r.Limit, r.Limit, "tell this many changed series in full (0: all)")
	shareVar(f, &r.MinShare, "min-share", "do not judge functions with a smaller share of <Total>")
	probabilityVar(f, &r.FDR, "fdr", "false discovery rate among the changes that are called sure")
	addFilter(c, &r.filter)
	formats := append(slices.Clone(result.Formats), "html")
	formatVar(c, &r.format, strings.Join(formats, ", ")+": csv and ndjson have a row for each function that changed, html is one file to send", formats...)
	oneOf(c, "mode", "mode", report.Modes)
	atLeast(f, "nights", &r.Nights, rank.LeastBefore+1)
	a.completeFromStore(c, "metric", "SELECT DISTINCT metric FROM metrics ORDER BY ALL")
	return c
}

// run makes the digest, and prints it.
func (r *digester) run(ctx context.Context, selectors []string) error {
	store, err := r.open(ctx, selectors...)
	if err != nil {
		return err
	}
	defer store.Close()
	db, closing, err := r.filterStore(ctx, store, r.filter, r.Reads()...)
	if err != nil {
		return err
	}
	defer closing()
	r.Selected = selectors
	found, err := digest.Run(ctx, db, r.Request)
	if err != nil {
		return err
	}
	switch r.format {
	case "json":
		return terminal.PrintJSON(r.Stdout, found.Object(), true)
	case "html":
		page := found.Document()
		page.Made = "Written by stackmill digest."
		return html.Write(r.Stdout, page)
	case "table", "markdown":
		return text.Digest(&r.Output, found, r.format == "markdown")
	}
	for _, w := range found.Warnings {
		r.Warnf("%s", w)
	}
	return found.Print(result.New(&r.Output, r.format))
}
