//go:build cgo

package main

import (
	"context"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/explain"
)

// explainer runs `stackmill explain`.
type explainer struct {
	*app
	chosen selection
	stack  string
	sample int64
	format string
}

func newExplainCommand(a *app) *cobra.Command {
	e := &explainer{app: a}
	c := &cobra.Command{
		Use:   "explain [SELECTOR]...",
		Short: "Show which rules changed a stack, or print the stages of an ingest",
		Long: `Without options, prints the stages between a recording and the store.

With --stack or --sample, prints a recorded stack: its frames as recorded, how each of
the manual's rules changed them, and the resulting stack in each mode.

--stack takes a raw_stack_id, or a stack_id: of the recorded stacks that have it, the one
with the most samples is shown. Both are numbers as SQL prints them, or hexadecimal with 0x. To
find them, query the tables: the second example lists the recorded stacks with the most
CPU time, the third the stacks with a function. Samples have the same numbers in all
experiments: for --sample, choose the experiment. A SELECTOR is
` + queries.SelectorHelp + `.`,
		Example: `  stackmill explain
  stackmill query "SELECT experiment, raw_stack_id, sum(value) AS value FROM stack_values_wide JOIN experiment_names USING (experiment_id) WHERE metric = 'totalcpu' GROUP BY ALL ORDER BY value DESC LIMIT 10"
  stackmill query "SELECT DISTINCT stack_id FROM frames JOIN functions USING (experiment_id, function_id) WHERE name = 'main'"
  stackmill explain --stack 2544126839187065367
  stackmill explain test.1.er --sample 17 --format json`,
		Args: cobra.ArbitraryArgs,
	}
	c.RunE = func(cmd *cobra.Command, selectors []string) error {
		e.chosen.option = e.chosen.with(selectors)
		return e.answer(cmd.Context(), cmd.Flags().Changed("sample"), cmd.Flags().Changed("format"))
	}
	f := c.Flags()
	f.StringVar(&e.stack, "stack", "", "explain this stack: a raw_stack_id or a stack_id")
	f.Int64Var(&e.sample, "sample", 0, "explain the stack of this sample")
	a.addSelection(c, &e.chosen)
	formatVar(c, &e.format, "text or json, for a stack", "text", "json")
	return c
}

// answer prints the stages, or a stack.
func (e *explainer) answer(ctx context.Context, bySample, formatGiven bool) (err error) {
	switch {
	case bySample && e.stack != "":
		return exit.Usagef("explain: --stack and --sample given (give one of them)")
	case !bySample && e.stack == "" && len(e.chosen.option) > 0:
		return exit.Usagef("explain: --experiment %s: no stack given (name one with --stack or --sample)", e.chosen.option[0])
	case !bySample && e.stack == "" && formatGiven:
		return exit.Usagef("explain: --format: no stack given (name one with --stack or --sample)")
	case !bySample && e.stack == "":
		return pipeline.Explain(e.Stdout)
	}
	id := e.sample
	if !bySample {
		if id, err = explain.ParseID(e.stack); err != nil {
			return exit.Usagef("explain: --stack: %w", err)
		}
	}
	return named("explain", e.run(ctx, id, bySample))
}

func (e *explainer) run(ctx context.Context, id int64, bySample bool) error {
	db, err := e.open(ctx, e.chosen.option...)
	if err != nil {
		return err
	}
	defer db.Close()
	find := explain.Stack
	if bySample {
		find = explain.Sample
	}
	x, err := find(ctx, db, id)
	if err != nil {
		return err
	}
	if e.format == "json" {
		return terminal.PrintJSON(e.Stdout, x, true)
	}
	return x.Print(e.Stdout)
}
