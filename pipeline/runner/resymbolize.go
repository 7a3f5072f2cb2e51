package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/schema/storedir"
)

// Resymbolization holds the options of Runner.Resymbolize.
type Resymbolization struct {
	Wanted func(*storedir.Entry) bool // nil for all experiments
	DryRun bool                       // report, and change nothing
	JSON   bool                       // print JSON
}

// Resymbolize symbolizes stored experiments again where better symbols are found now, and prints
// what changed.
func (run *Runner) Resymbolize(ctx context.Context, r Resymbolization) error {
	run.Progress = &pipeline.Progress{}
	stop := showProgress(run.Stderr, run.Progress)
	results, err := pipeline.Resymbolize(ctx, run.Options, r.Wanted, r.DryRun)
	stop()
	if errors.Is(err, storedir.ErrNoStore) {
		return fmt.Errorf("resymbolize: no store at %s (run `stackmill ingest --store %[1]s PATH` first)", storedir.DisplayName(run.Store))
	}
	if len(results) == 0 && err != nil {
		return fmt.Errorf("resymbolize: nothing was done: %w", exit.Interrupted(ctx, err))
	}
	if !r.DryRun {
		run.refresh()
	}
	return r.report(run.Output, results, exit.Interrupted(ctx, err))
}

// experimentChange is what changed in an experiment.
type experimentChange struct {
	Experiment   string          `json:"experiment"`
	ExperimentID string          `json:"experiment_id"`
	Path         string          `json:"path"`
	Status       string          `json:"status"` // a value of experiments.status, or unchanged or aborted
	Error        string          `json:"error,omitempty"`
	Metric       string          `json:"metric,omitempty"` // the metric of whose value KnownBefore and KnownAfter are shares
	KnownBefore  float64         `json:"known_before"`     // the share of the value in functions with a name
	KnownAfter   float64         `json:"known_after"`
	CutStacks    bool            `json:"cut_stacks,omitempty"` // stacks from dumps are not unwound again
	LoadObjects  []changedObject `json:"load_objects"`         // load objects whose symbols changed
	Unused       int             `json:"unused"`               // how many of LoadObjects are on no stack
}

// changedObject is a load object with its symbols before and after.
type changedObject struct {
	Path   string      `json:"path"`
	Used   bool        `json:"used"` // its code is on stacks
	Before objectState `json:"before"`
	After  objectState `json:"after"`
}

// objectState is the state of a load object's symbols.
type objectState struct {
	Symbols   string  `json:"symbols"`
	Functions int64   `json:"functions"` // number of functions in its symbol tables
	Lines     bool    `json:"lines"`
	Named     int64   `json:"named"` // functions on stacks that have a name
	Known     float64 `json:"known"` // the share of the load object's value in functions with a name
}

// report prints what changed, and returns the exit status as an error.
func (r *Resymbolization) report(out *terminal.Output, results []pipeline.Result, stopped error) error {
	done, undone := 0, 0
	list := []experimentChange{}
	for i := range results {
		x := &results[i]
		switch {
		case x.Err != nil:
			undone++
		case x.Status != pipeline.Unchanged && x.Status != pipeline.Skipped:
			done++
		default:
			continue
		}
		list = append(list, changesOf(x))
	}
	if r.JSON {
		if err := terminal.PrintJSON(out.Stdout, list, true); err != nil {
			return err
		}
	} else {
		r.printChanges(out, list)
		verb := "symbolized again"
		if r.DryRun {
			verb = "would be symbolized again"
		}
		if err := out.Printf("%d of %s %s\n", done, terminal.Plural(len(results), "experiment"), verb); err != nil {
			return err
		}
	}
	if undone == 0 && stopped == nil {
		return nil
	}
	code := exit.Lost
	if done == 0 {
		code = exit.Failed
	}
	why := "see the reasons above"
	if stopped != nil {
		why = stopped.Error()
	}
	return exit.With(code, fmt.Errorf("resymbolize: %d of %s failed, left unchanged: %s", undone, terminal.Plural(len(results), "experiment"), why))
}

func changesOf(x *pipeline.Result) experimentChange {
	c := experimentChange{ExperimentID: x.ID, Path: x.Path, Status: x.Status, LoadObjects: []changedObject{}}
	if x.Err != nil {
		c.Error = terminal.Wording(x.Err)
	}
	d := x.SymbolChanges
	if d == nil {
		return c
	}
	c.Experiment, c.Metric, c.CutStacks = d.Experiment, d.Metric, d.Unwound
	c.KnownBefore, c.KnownAfter = knownOf(d.Before), knownOf(d.After)
	after := map[string][]pipeline.LoadObject{}
	for _, o := range d.After {
		after[o.Path] = append(after[o.Path], o)
	}
	for _, o := range d.Before {
		if list := after[o.Path]; len(list) > 0 {
			after[o.Path] = list[1:]
			if b, a := stateOf(&o), stateOf(&list[0]); b != a {
				c.LoadObjects = append(c.LoadObjects, changedObject{o.Path, o.Used, b, a})
				if !o.Used {
					c.Unused++
				}
			}
		}
	}
	return c
}

func stateOf(o *pipeline.LoadObject) objectState {
	return objectState{o.Symbols, o.Functions, o.Lines, o.Named, knownOf([]pipeline.LoadObject{*o})}
}

// knownOf returns which share of the load objects' total value is in functions that have names.
func knownOf(objects []pipeline.LoadObject) float64 {
	known, all := int64(0), int64(0)
	for i := range objects {
		known, all = known+objects[i].Known, all+objects[i].Value
	}
	if all == 0 {
		return 0
	}
	return float64(known) / float64(all)
}

// printChanges prints what changed in each experiment.
func (r *Resymbolization) printChanges(out *terminal.Output, list []experimentChange) {
	for i := range list {
		c := &list[i]
		name := cmp.Or(c.Experiment, c.Path)
		if c.Error != "" {
			out.Warnf("%s: not done: %s", name, c.Error)
			continue
		}
		if r.DryRun {
			_ = out.Printf("%s: better symbols are found\n", name)
		} else {
			_ = out.Printf("%s: %s, functions known for %.1f %% of %s (before: %.1f %%)\n", name, c.Status, 100*c.KnownAfter, c.Metric, 100*c.KnownBefore)
		}
		for _, o := range c.LoadObjects {
			if !o.Used {
				continue
			}
			_ = out.Printf("  %s: symbols %s (before: %s)", o.Path, o.symbols(o.After), o.symbols(o.Before))
			if !r.DryRun {
				_ = out.Printf("; functions on stacks that have names: %d (before: %d)", o.After.Named, o.Before.Named)
			}
			if !r.DryRun && c.Metric != "" {
				_ = out.Printf("; known for %.1f %% of %s (before: %.1f %%)", 100*o.After.Known, c.Metric, 100*o.Before.Known)
			}
			_ = out.Printf("\n")
		}
		if c.Unused > 0 {
			_ = out.Printf("  and %d load objects that are on no stack\n", c.Unused)
		}
		if c.CutStacks {
			_ = out.Printf("  stacks from dumps were not unwound again: the store does not keep the dumps\n")
		}
	}
}

// symbols returns a text that says which symbols a load object has.
func (*changedObject) symbols(s objectState) string {
	if s.Lines {
		return s.Symbols + " with source lines"
	}
	return s.Symbols
}
