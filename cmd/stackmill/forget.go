//go:build cgo

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/queries"
	"stackmill/queries/result"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// forgetter is one call of the verb.
type forgetter struct {
	*app
	olderThan string
	age       time.Duration
	summaries bool
	dry       bool
	format    string
}

func newForgetCommand(a *app) *cobra.Command {
	f := &forgetter{app: a}
	c := &cobra.Command{
		Use:   "forget [SELECTOR]...",
		Short: "Delete experiments",
		Long: `Deletes the selected experiments from the store. A SELECTOR is
` + queries.SelectorHelp + `.

Reports and queries no longer see them, and ingest skips their recordings, unless you
call it with --forgotten. --older-than restricts this to experiments recorded longer ago
(or, if that time is unknown, ingested); without a SELECTOR, of all experiments. With
--keep-rollups, their sums by function (table "function_rollup") stay, and their rows in
"experiments", "processes", "metrics", "load_objects" and "problems".

If nothing of a batch counts any more, an ingest removes its files after an hour. Other
rows are removed when their batch is compacted.`,
		Example: `  stackmill forget test.1.er
  stackmill forget --older-than 90d --keep-rollups
  stackmill forget 'night-*/*.er,host=web7' --older-than 2w --dry-run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, selectors []string) error {
			if err := f.check(selectors); err != nil {
				return err
			}
			if err := f.run(cmd.Context(), selectors); err != nil {
				return fmt.Errorf("forget: %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&f.olderThan, "older-than", "", "only experiments recorded longer ago, e.g. 90d, 2w or 36h")
	c.Flags().BoolVar(&f.summaries, "keep-rollups", false, "keep the experiments' descriptions and their sums by function")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "list what would be deleted, and change nothing")
	c.Flags().StringVar(&f.format, "format", "table", strings.Join(result.Formats, ", "))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(result.Formats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// check looks at the flags.
func (f *forgetter) check(selectors []string) (err error) {
	switch {
	case !slices.Contains(result.Formats, f.format):
		return exit.Usagef("forget: --format: no format %q (one of %s)", f.format, strings.Join(result.Formats, ", "))
	case f.olderThan == "" && len(selectors) == 0:
		return exit.Usagef("forget: nothing says which experiments (give a SELECTOR or --older-than)")
	}
	if f.olderThan == "" {
		return nil
	}
	if f.age, err = parseAge(f.olderThan); err != nil {
		return exit.Usagef("forget: --older-than: %w", err)
	}
	return nil
}

// parseAge reads a duration such as 90d, 2w or 36h.
func parseAge(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if digits, ok := strings.CutSuffix(s, suffix); ok {
			if n, err := strconv.ParseUint(digits, 10, 13); err == nil {
				return time.Duration(n) * unit, nil
			}
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is not an age (write 90d, 2w or 36h)", s)
}

// leaving is an experiment that is to be taken out.
type leaving struct {
	queries.Experiment
	started time.Time
	bytes   int64 // its part of the batch's files, by its samples
}

func (f *forgetter) run(ctx context.Context, selectors []string) error {
	list, err := f.chosen(ctx, selectors)
	if err != nil {
		return err
	}
	done := "would be forgotten"
	if !f.dry {
		done = "forgotten"
		if err := f.takeOut(ctx, list); err != nil {
			return err
		}
	}
	if f.summaries {
		done = strings.Replace(done, "forgotten", "kept as sums", 1)
	}
	if f.lists() {
		if err := f.print(list); err != nil {
			return err
		}
	}
	if f.format != "table" {
		return nil
	}
	var samples, bytes int64
	for _, e := range list {
		samples += e.Samples
		bytes += e.bytes
	}
	return f.Printf("%d experiments %s: %d samples, some %d bytes of files\n", len(list), done, samples, bytes)
}

// chosen returns the experiments to take out.
func (f *forgetter) chosen(ctx context.Context, selectors []string) (list []leaving, err error) {
	if f.olderThan == "" && !f.summaries {
		if list, selectors, err = f.damaged(selectors); err != nil || len(selectors) == 0 {
			return list, err
		}
	}
	db, err := f.open(ctx, selectors...)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	started, err := f.started(ctx, db)
	if err != nil {
		return nil, err
	}
	parts := f.parts(db.Batches())
	for _, e := range db.Experiments() {
		at := started[e.ExperimentID]
		if at.IsZero() {
			at = e.Ingested
		}
		already := f.summaries && e.Status == storedir.Summary
		if !already && (f.olderThan == "" || time.Since(at) > f.age) {
			list = append(list, leaving{e, at, parts[e.ExperimentID]})
		}
	}
	return list, nil
}

// damaged returns the experiments to take out that were damaged and are left out until they are
// ingested again, by their names or ids, and the selectors of others.
func (f *forgetter) damaged(selectors []string) (list []leaving, others []string, err error) {
	if err := storedir.Pull(f.store); err != nil {
		return nil, nil, err
	}
	c, err := storedir.ReadContents(f.store)
	if err != nil {
		return nil, selectors, nil // opening the store says why
	}
	for _, s := range selectors {
		before := len(list)
		for _, e := range c.ToReingest {
			if s == e.ExperimentID || s == e.Experiment {
				list = append(list, leaving{Experiment: queries.Experiment{Entry: e, Name: e.Experiment}})
			}
		}
		if len(list) == before {
			others = append(others, s)
		}
	}
	return list, others, nil
}

// started returns when experiments were recorded, if that is asked for: what is forgotten by name
// is known without the store's files, which may be replaced meanwhile.
func (f *forgetter) started(ctx context.Context, db *queries.DB) (map[string]time.Time, error) {
	started := map[string]time.Time{}
	if f.olderThan == "" && !f.lists() {
		return started, nil
	}
	rows, err := db.Records(ctx, "SELECT experiment_id, started FROM experiments")
	for _, r := range rows {
		if at, ok := r["started"].(time.Time); ok {
			started[r.Text("experiment_id")] = at
		}
	}
	return started, err
}

// lists reports whether the experiments are printed.
func (f *forgetter) lists() bool { return f.dry || f.format != "table" }

// parts returns how many bytes of the files each experiment has that are to go.
func (f *forgetter) parts(batches []storedir.Batch) map[string]int64 {
	parts := map[string]int64{}
	for i := range batches {
		var bytes, samples float64
		for _, file := range batches[i].Files {
			if t := schema.ByName(file.Table); !f.summaries || t == nil || !t.Summary {
				bytes += float64(file.Bytes)
			}
		}
		for _, e := range batches[i].Experiments {
			samples += float64(e.Samples) + 1
		}
		for e := range batches[i].Visible {
			parts[e.ExperimentID] = int64(bytes * (float64(e.Samples) + 1) / samples)
		}
	}
	return parts
}

// takeOut takes the experiments out of the store.
func (f *forgetter) takeOut(ctx context.Context, list []leaving) error {
	if len(list) == 0 {
		return nil
	}
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ExperimentID)
	}
	status := storedir.Forgotten
	if f.summaries {
		status = storedir.Summary
	}
	return f.change(ctx, func(c *storedir.Contents) error { return c.Delete(ids, status, programVersion()) })
}

// change makes a commit in the store, and brings its catalog up to date.
func (a *app) change(ctx context.Context, commit func(*storedir.Contents) error) error {
	store, err := filepath.Abs(a.store)
	if err != nil {
		return err
	}
	c, err := storedir.ReadContents(store)
	if err == nil {
		err = commit(c)
	}
	if err != nil {
		return err
	}
	if err := queries.Refresh(store); err != nil && ctx.Err() == nil {
		a.Warnf("%v (the next report or query makes the catalog)", err)
	}
	return nil
}

// print lists the experiments.
func (f *forgetter) print(list []leaving) error {
	p := result.New(&f.Output, f.format)
	fields := []result.Field{{Name: "experiment"}, {Name: "recorded", Kind: "TIMESTAMP"}, {Name: "samples", Kind: "BIGINT", Numeric: true},
		{Name: "bytes", Kind: "BIGINT", Numeric: true}, {Name: "path"}, {Name: "experiment_id"}}
	if err := p.Header(fields); err != nil {
		return err
	}
	for _, e := range list {
		if err := p.Row([]any{e.Name, e.started, e.Samples, e.bytes, e.Path, e.ExperimentID}); err != nil {
			return err
		}
	}
	return p.Close()
}
