//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"

	"stackmill/internal/atomicfile"
	"stackmill/internal/exit"
	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/text"
	"stackmill/schema/storedir"
)

// gater runs `stackmill gate`.
type gater struct {
	*app
	compare.Request
	filter     queries.Filter
	rules      compare.Rules
	rulesFile  string
	junit      string
	accept     bool
	allowFirst bool
	limit      int
	format     string
}

// defaultPassedRows is the default of --limit.
const defaultPassedRows = 10

func newGateCommand(a *app) *cobra.Command {
	g := &gater{app: a, Request: compare.Defaults(), rules: compare.Rules{MaxIncrease: 0.03}}
	g.MinShare = 0.01
	c := &cobra.Command{
		Use:   "gate --base SELECTOR --test SELECTOR",
		Short: "Fail CI when a function got slower",
		Long: `Compares like "compare", and applies rules. With --max-increase, each function with at
least --min-share of <Total>, and <Total> itself, may increase by that much from base to
test. A rule is violated if the lower bound of the confidence interval exceeds that. All
bounds together are right with the probability --level, so noise alone rarely fails the
gate.

--rules names a file of queries (DuckDB's SQL) over the table "comparison", which has the
columns of "compare --format csv" and "judged"; each row that a query returns is a
violation. The comment before a query is the rule's name. With --rules, there is no other
rule unless you give --max-increase.

--base last-good compares with the newest runs before the test's that have the label
accepted=yes. --test must then name a label whose values tell groups of runs apart, such
as commit=4f2a. With --accept, a gate that passes sets that label on the runs of the test:
the next one compares with them, and runs that were not accepted never become a
reference. "stackmill label commit=4f2a accepted=yes" accepts a known change by hand. If
nothing is accepted yet, the exit status is 1 unless you give --allow-first.

The output says how small an increase would have been found ("Detectable"), and which runs
are missing if the rules cannot be judged.

Exit status: 0 no rule is violated; 5 a rule is violated; 1 the rules could not be
judged, for example with too few runs; 2 wrong usage. docs/ci.md has recipes for CI
systems.`,
		Example: `  stackmill gate --base branch=main --test commit=4f2a --max-increase 3%
  stackmill gate --base last-good --test commit=4f2a --accept
  stackmill gate --base side=base --test side=test --pair label=round
  stackmill gate --base 'main-*.data' --test 'pr-*.data' --rules perf.sql --junit gate.xml`,
		Args: twoSides,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := g.prepare(cmd); err != nil {
				return exit.Usagef("gate: %w", err)
			}
			return g.run(cmd.Context())
		},
	}
	a.addComparison(c, &g.Request)
	addFilter(c, &g.filter)
	f := c.Flags()
	shareVar(f, &g.rules.MaxIncrease, "max-increase", "maximum increase of a row")
	f.StringVar(&g.rulesFile, "rules", "", "file of queries; each row that they return is a violation")
	probabilityVar(f, &g.Level, "level", "confidence level of all bounds together")
	outputVar(f, &g.junit, "junit", "", "", "write a report for CI systems to this file")
	f.BoolVar(&g.accept, "accept", false, "label the runs of the test accepted=yes if the gate passes")
	f.BoolVar(&g.allowFirst, "allow-first", false, "pass if --base last-good finds no accepted runs")
	limitVar(c, &g.limit, defaultPassedRows, "print at most this many rows that passed (0: all)")
	formatVar(c, &g.format, "table, markdown or json", "table", "markdown", "json")
	return c
}

// prepare checks the flags and reads the rules.
func (g *gater) prepare(cmd *cobra.Command) error {
	if g.allowFirst && !g.UsesLastGood() {
		return fmt.Errorf("--allow-first has no effect without --base %s", compare.LastGood)
	}
	if g.format == "json" && cmd.Flags().Changed("limit") {
		return fmt.Errorf("--limit has no effect on JSON, which has all rows")
	}
	if g.rulesFile != "" {
		text, err := os.ReadFile(g.rulesFile)
		if err != nil {
			return fmt.Errorf("--rules: %w", err)
		}
		if g.rules.SQL, err = compare.ParseRules(string(text)); err != nil {
			return fmt.Errorf("--rules: %s: %w", g.rulesFile, err)
		}
		if !cmd.Flags().Changed("max-increase") {
			g.rules.MaxIncrease = math.NaN()
		}
	}
	if err := g.Check(); err != nil {
		return err
	}
	return conditions(&g.Request, &g.filter)
}

// label sets the label of accepted runs.
func (g *gater) label(ctx context.Context, runs []queries.Experiment) error {
	l := storedir.Labels{Set: map[string]string{compare.AcceptedKey: compare.AcceptedValue}}
	for _, e := range runs {
		l.Experiments = append(l.Experiments, e.ExperimentID)
	}
	return g.changeStore(ctx, func(c *storedir.Contents) error { return c.Label(l, programVersion()) })
}

// run applies the rules, and prints the result.
func (g *gater) run(ctx context.Context) error {
	if g.junit != "" {
		if err := atomicfile.Check(g.junit); err != nil {
			return fmt.Errorf("gate: --junit: %w", err)
		}
	}
	reads := g.Reads()
	if g.rules.SQL != nil { // the SQL may read any view
		reads = nil
	}
	var j *compare.Judgement
	err := g.compared(ctx, &g.Request, g.filter, reads, func(db *queries.DB) (err error) {
		j, err = compare.Gate(ctx, db, g.Request, g.rules)
		return err
	})
	if g.allowFirst && errors.Is(err, compare.ErrNoneAccepted) {
		err = g.wholeStore(ctx, func(db *queries.DB) (err error) {
			j, err = compare.FirstAccepted(ctx, db, g.Request)
			return err
		})
	}
	switch {
	case errors.Is(err, compare.ErrRule):
		return exit.Usagef("gate: %w", err)
	case err != nil:
		return fmt.Errorf("gate: %w", err)
	}
	if g.junit != "" {
		err := atomicfile.Write(g.junit, func(w io.Writer) error { return text.JUnit(w, j, g.LeftOut) })
		if err != nil {
			return fmt.Errorf("gate: --junit: %w", err)
		}
	}
	options := text.GateOptions{Limit: g.limit, Markdown: g.format == "markdown", LeftOut: g.LeftOut}
	if g.accept && j.Outcome == compare.Passed {
		if err := g.label(ctx, j.Test.Runs); err != nil {
			return fmt.Errorf("gate: --accept: %w", err)
		}
		options.Accepted = len(j.Test.Runs)
	}
	print := text.Gate
	if g.format == "json" {
		print = text.GateJSON
	}
	if err := print(&g.Output, j, options); err != nil {
		return err
	}
	switch j.Outcome {
	case compare.Violated:
		return exit.With(exit.Violated, nil)
	case compare.Undecided:
		return exit.With(exit.Failed, nil)
	}
	return nil
}
