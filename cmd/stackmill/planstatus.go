package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/pipeline/plan"
	"stackmill/queries/result"
	"stackmill/schema/storedir"
)

// planState runs `stackmill plan status`.
type planState struct {
	*app
	format string
	all    bool
	limit  int

	totals plan.Totals
	rows   []plan.Outcome
	more   int // number of rows beyond --limit, which are not printed
}

func newPlanStatusCommand(a *app) *cobra.Command {
	s := &planState{app: a}
	c := &cobra.Command{
		Use:   "status FILE",
		Short: "Show how much of a plan is in the store",
		Long: `Counts the recordings of a plan that are in the store, missing, failed or forgotten, and
lists those that are not in it or have lost data, with the reason. It reads only the
store: its content, and the reports that tasks have left there.

missing: the same task may still add it; failed: it cannot be read.

Exit status: 0 all are in the store; 3 some are missing, failed or have lost data; 1 the
status cannot be determined; 2 wrong usage.`,
		Example: `  stackmill plan status night.plan
  stackmill plan status night.plan --all --format csv`,
		Args: arguments(1, 1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("limit") && !s.forPeople() {
				return exit.Usagef("plan status: --limit: %s always has all rows (it applies to table and markdown)", s.format)
			}
			return s.run(cmd.Context(), args[0], cmd.Flags().Changed("store"))
		},
	}
	formatVar(c, &s.format, strings.Join(result.Formats, ", "), result.Formats...)
	c.Flags().BoolVar(&s.all, "all", false, "also list recordings that are in the store")
	limitVar(c, &s.limit, 50, "how many rows of a table to print (0: all)")
	return c
}

// forPeople reports whether the output is a table for people to read: only those respect --limit.
func (s *planState) forPeople() bool { return s.format == "table" || s.format == "markdown" }

func (s *planState) run(ctx context.Context, path string, given bool) error {
	p, err := plan.Open(path)
	if err != nil {
		return fmt.Errorf("plan status: %w", err)
	}
	defer p.Close()
	if !given {
		if err := s.reach(ctx, p.Store); err != nil {
			return err
		}
	}
	err = p.Status(s.store, func(b plan.Outcome) { s.add(&b) })
	if err == nil {
		err = s.reasons(ctx)
	}
	if err == nil {
		err = s.print(p)
	}
	if err != nil {
		return fmt.Errorf("plan status: %w", err)
	}
	if s.totals.Missing+s.totals.Failed+s.totals.Lost > 0 {
		return exit.With(exit.Lost, nil)
	}
	return nil
}

// add counts an input, and keeps its row if it is printed.
func (s *planState) add(b *plan.Outcome) {
	s.totals.Add(b)
	switch {
	case b.Whole() && !s.all:
	case s.forPeople() && s.limit > 0 && len(s.rows) == s.limit:
		s.more++
	default:
		s.rows = append(s.rows, *b)
	}
}

// print prints the totals for people, and the rows.
func (s *planState) print(p *plan.Plan) error {
	fields := []result.Field{{Name: "chunk", Kind: "BIGINT", Numeric: true}, {Name: "state"}, {Name: "status"}, {Name: "path"}, {Name: "why"}, {Name: "experiment_id"}}
	if s.forPeople() {
		w, t := s.Page(), &s.totals
		w.Printf("Plan %s of %s: %s in %s, store %s\n", p.ID, p.Made.Format("2006-01-02 15:04"), terminal.Plural(p.Count(), "recording"), terminal.Plural(len(p.Chunks), "chunk"), storedir.DisplayName(s.store))
		w.Printf("%d in the store (%d with lost data), %d missing, %d failed, %d forgotten\n", t.In, t.Lost, t.Missing, t.Failed, t.Forgotten)
		if len(t.Again) > 0 {
			w.Printf("chunks to run again: %s\n", t.ChunksToRun())
		}
		if len(s.rows) > 0 {
			w.Printf("\n")
		}
		if err := w.Flush(); err != nil || len(s.rows) == 0 {
			return err
		}
	}
	out := result.New(&s.Output, s.format)
	if err := out.Header(fields); err != nil {
		return err
	}
	for _, b := range s.rows {
		if err := out.Row([]any{int64(b.Chunk), b.State, b.Status, b.Path, b.Why, b.ExperimentID}); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return result.More(&s.Output, s.format, s.more)
}

func newPlanRetryCommand(a *app) *cobra.Command {
	p := &planner{app: a, verb: "plan retry"}
	failed := false
	c := &cobra.Command{
		Use:   "retry FILE",
		Short: "Plan the missing recordings of another plan",
		Long: `Makes a plan of the recordings of another plan that are missing in the store (see
"stackmill plan status"), with the same store and the same options of ingest.

Exit status: 0 planned; 1 nothing could be done; 2 wrong usage.`,
		Example: `  stackmill plan retry night.plan -o again.plan --submit slurm`,
		Args:    arguments(1, 1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f := cmd.Flags()
			if err := p.checkSize(f); err != nil {
				return err
			}
			return p.retry(cmd.Context(), args[0], failed, f.Changed)
		},
	}
	p.addFlags(c)
	c.Flags().BoolVar(&failed, "failed", false, "also plan failed recordings, after their files were repaired")
	return c
}

// retry makes a plan of the inputs of the plan at path that are still missing from the store.
// changed reports whether a flag was given; otherwise the old plan's value applies.
func (p *planner) retry(ctx context.Context, path string, failed bool, changed func(flag string) bool) error {
	before, err := plan.Open(path)
	if err != nil {
		return fmt.Errorf("plan retry: %w", err)
	}
	defer before.Close()
	if !changed("store") {
		if err := p.reach(ctx, before.Store); err != nil {
			return err
		}
	}
	if !changed("cpus") {
		p.cpus = before.Task.CPUs
	}
	if !changed("memory") {
		p.Memory = before.Task.Memory
	}
	if !changed("ingest-option") {
		p.options = before.Task.Ingest
	}
	if err := p.check(); err != nil {
		return err
	}
	p.Store, p.Program = p.store, programVersion()
	if err := p.readStore(); err != nil {
		return fmt.Errorf("plan retry: %w", err)
	}
	measured := p.learn()
	had := plan.AtPaths(p.Contents)
	var inputs []plan.Input
	err = before.Status(p.store, func(b plan.Outcome) {
		switch {
		case b.State == plan.Missing, b.State == plan.Failed && failed:
			if b.Had = ""; had[b.Path] != nil {
				b.Had = had[b.Path].ExperimentID
			}
			inputs = append(inputs, b.Input)
		case b.State == plan.In:
			p.skipped++
		}
	})
	if err != nil {
		return fmt.Errorf("plan retry: %w", err)
	}
	return p.make(ctx, inputs, &measured)
}
