//go:build cgo

package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/queries"
	"stackmill/queries/result"
	"stackmill/queries/text"
	"stackmill/schema/diagnostic"
)

func newProblemsCommand(a *app) *cobra.Command {
	p := &problemLister{app: a}
	severities := []string{diagnostic.Info.String(), diagnostic.Warning.String(), diagnostic.Error.String()}
	c := &cobra.Command{
		Use:   "problems [SELECTOR]...",
		Short: "List what is wrong with the recordings or missing in them",
		Long: `Lists what is wrong with the recordings or missing in them, by reason, the worst first:
how many experiments have it, how many items (packets, events, links) it affects, and
an example, that with the most items. With --all, each problem is listed.

error: records were lost or are unreadable; warning: names were not found, stacks end
early, or the collector warned; info: a remark.

A SELECTOR is ` + queries.SelectorHelp + `.`,
		Example: `  stackmill problems --severity error
  stackmill problems test.1.er --all --format json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, selectors []string) error {
			return named("problems", p.run(cmd.Context(), selectors))
		},
	}
	f := c.Flags()
	a.addSelection(c, &p.chosen)
	f.BoolVar(&p.all, "all", false, "list every problem, not one line for each reason")
	f.StringVar(&p.severity, "severity", "", "only this severity: "+strings.Join(severities, ", "))
	oneOf(c, "severity", "severity", severities)
	limitVar(c, &p.limit, 0, "print this many rows (0: all)")
	formatVar(c, &p.format, strings.Join(result.Formats, ", "), result.Formats...)
	return c
}

// problemLister runs `stackmill problems`.
type problemLister struct {
	*app
	chosen   selection
	severity string
	all      bool
	limit    int
	format   string
}

func (p *problemLister) run(ctx context.Context, selectors []string) error {
	db, err := p.open(ctx, p.chosen.with(selectors)...)
	if err != nil {
		return err
	}
	defer db.Close()
	people := p.format == "table" || p.format == "markdown"
	rows, err := db.QueryContext(ctx, text.ProblemQuery(p.all, people), p.severity)
	if err != nil {
		return err
	}
	if p.format == "table" {
		return text.Problems(&p.Output, rows, p.limit)
	}
	return result.Print(result.Limit(&p.Output, p.format, p.limit), rows)
}
