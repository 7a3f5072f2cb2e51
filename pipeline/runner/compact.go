//go:build cgo

package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/pipeline/compact"
	"stackmill/schema/storedir"
)

// minSaved is how many batches compact must save for ingest to suggest it.
const minSaved = 16

// compaction describes how batches were merged after an ingest, for the report.
type compaction struct {
	compact.Summary
	Error string `json:"error,omitempty"`

	interrupted bool
}

// compactAfterwards merges batches after an ingest that added some, if the user asked for that.
// Otherwise it says once that `stackmill compact` would help, if it would.
func (run *Runner) compactAfterwards(ctx context.Context, o *outcome, log *slog.Logger) {
	put := slices.ContainsFunc(o.results, func(r pipeline.Result) bool { return r.Batch != "" })
	switch {
	case o.interrupted || !put || run.Plan != "":
	case run.AutoCompact:
		o.compaction = run.merge(ctx)
		o.reportMerge(run, log)
	case !run.suggested:
		run.suggest(ctx, log)
	}
}

// merge merges batches.
func (run *Runner) merge(ctx context.Context) *compaction {
	s, err := compact.Run(ctx, run.compactOptions(ctx))
	c := &compaction{Summary: s, interrupted: ctx.Err() != nil}
	switch {
	case c.interrupted:
		c.Error = "ingest: --auto-compact: interrupted (the recordings are in the store)"
	case err != nil:
		c.Error = fmt.Sprintf("ingest: --auto-compact: %v (the recordings are in the store)", err)
	case len(s.Damaged) > 0:
		c.Error = fmt.Sprintf("ingest: --auto-compact: damaged batches were not merged: %s (the recordings are in the store; stackmill check says more)",
			strings.Join(s.Damaged, ", "))
	}
	return c
}

func (run *Runner) compactOptions(ctx context.Context) compact.Options {
	return compact.Options{
		Store: run.Store, Program: run.Program, TargetSize: compact.DefaultSize, Keep: storedir.Keep, Memory: run.Memory, Jobs: run.Jobs,
		Committed: func() {
			if err := run.Refresh(run.Store); err != nil {
				run.Warnf("%v (the store is merged; the next report or query rebuilds the catalog)", err)
			}
		},
	}
}

// reportMerge prints or logs what was merged. An error of the merge becomes the outcome's error, or
// is only printed if the outcome has one already.
func (o *outcome) reportMerge(run *Runner, log *slog.Logger) {
	c := o.compaction
	switch {
	case c.Error == "" || c.interrupted && run.Watch: // a watch ends so
	case o.err == nil:
		o.err = c.exitError()
	default:
		run.Warnf("%s", c.Error)
	}
	switch {
	case c.Merged == 0:
	case log != nil:
		log.Info("compact", slog.Int("merged", c.Merged), slog.Int("written", c.Written), slog.Int("batches", c.After.Batches))
	default:
		run.Warnf("merged %s into %d", terminal.Plural(c.Merged, "batch"), c.Written)
	}
}

// exitError returns the error of an incomplete merge, with its exit status.
func (c *compaction) exitError() error {
	if c.Error == "" {
		return nil
	}
	code := exit.Lost
	if len(c.Damaged) > 0 {
		code = exit.Damaged
	}
	return exit.With(code, errors.New(c.Error))
}

// suggest says once that `stackmill compact` would help, if it would save at least minSaved
// batches.
func (run *Runner) suggest(ctx context.Context, log *slog.Logger) {
	commits, err := os.ReadDir(filepath.Join(run.Store, storedir.CommitsDir))
	if err != nil || len(commits) <= minSaved {
		return
	}
	options := run.compactOptions(ctx)
	options.DryRun = true
	s, err := compact.Run(ctx, options)
	if err != nil || s.Merged-s.Written < minSaved {
		return
	}
	run.suggested = true
	if run.LogFormat == LogJSON {
		log.Info("compact would help", slog.Int("merged", s.Merged), slog.Int("written", s.Written), slog.Int("batches", s.Before.Batches))
		return
	}
	run.Warnf("%d of %s would be merged into %d by stackmill compact, or after each ingest by --auto-compact: queries would read fewer files",
		s.Merged, terminal.Plural(s.Before.Batches, "batch"), s.Written)
}
