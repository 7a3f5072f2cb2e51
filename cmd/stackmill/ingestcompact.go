//go:build cgo

package main

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
	"stackmill/pipeline"
	"stackmill/pipeline/compact"
	"stackmill/queries"
	"stackmill/schema/storedir"
)

// suggestFrom is how many batches fewer there must be after compact for ingest to suggest it.
const suggestFrom = 16

// compacted is what an ingest did about the batches of its store, for its report.
type compacted struct {
	compact.Summary
	Error string `json:"error,omitempty"`

	interrupted bool
}

// afterwards merges the batches of a store into which something was put, if that is asked
// for, or says once that it would help.
func (in *ingester) afterwards(ctx context.Context, o *outcome, log *slog.Logger) {
	put := slices.ContainsFunc(o.results, func(r pipeline.Result) bool { return r.Batch != "" })
	switch {
	case o.interrupted || !put || in.plan != "":
	case in.autoCompact:
		o.compacted = in.merge(ctx)
		o.merged(in, log)
	case !in.suggested:
		in.suggest(ctx, log)
	}
}

// merge merges what is worth it.
func (in *ingester) merge(ctx context.Context) *compacted {
	s, err := compact.Run(ctx, in.compactOptions(ctx))
	c := &compacted{Summary: s, interrupted: ctx.Err() != nil}
	switch n := len(s.Damaged); {
	case c.interrupted:
		c.Error = "ingest: --auto-compact: interrupted (the recordings are in the store)"
	case err != nil:
		c.Error = fmt.Sprintf("ingest: --auto-compact: %v (the recordings are in the store)", err)
	case n > 0:
		c.Error = fmt.Sprintf("ingest: --auto-compact: %d batches were left alone: their files are not as they were written: %s (the recordings are in the store; stackmill check says more)",
			n, strings.Join(s.Damaged, ", "))
	}
	return c
}

func (in *ingester) compactOptions(ctx context.Context) compact.Options {
	return compact.Options{
		Store: in.Store, Program: in.Program, TargetSize: compact.DefaultSize, Keep: storedir.Keep, Memory: in.Memory, Jobs: in.Jobs,
		Committed: func() {
			if err := queries.Refresh(in.Store); err != nil {
				in.Warnf("%v (the store is merged; the next report or query makes the catalog)", err)
			}
		},
	}
}

// merged says what was merged. What went wrong is the outcome's error, unless it has one.
func (o *outcome) merged(in *ingester, log *slog.Logger) {
	c := o.compacted
	switch {
	case c.Error == "" || c.interrupted && in.watch: // a watch ends so
	case o.err == nil:
		o.err = c.exit()
	default:
		in.Warnf("%s", c.Error)
	}
	switch {
	case c.Merged == 0:
	case log != nil:
		log.Info("compact", slog.Int("merged", c.Merged), slog.Int("written", c.Written), slog.Int("batches", c.After.Batches))
	default:
		in.Warnf("%d batches were merged to %d", c.Merged, c.Written)
	}
}

// exit is the error of merges that were not all done, with its exit status.
func (c *compacted) exit() error {
	if c.Error == "" {
		return nil
	}
	code := exit.Lost
	if len(c.Damaged) > 0 {
		code = exit.Damaged
	}
	return exit.With(code, errors.New(c.Error))
}

// suggest says that compact would help, once. Only a store of many commits is looked at.
func (in *ingester) suggest(ctx context.Context, log *slog.Logger) {
	commits, err := os.ReadDir(filepath.Join(in.Store, storedir.CommitsDir))
	if err != nil || len(commits) <= suggestFrom {
		return
	}
	options := in.compactOptions(ctx)
	options.DryRun = true
	s, err := compact.Run(ctx, options)
	if err != nil || s.Merged-s.Written < suggestFrom {
		return
	}
	in.suggested = true
	if in.logFormat == logJSON {
		log.Info("compact would help", slog.Int("merged", s.Merged), slog.Int("written", s.Written), slog.Int("batches", s.Before.Batches))
		return
	}
	in.Warnf("%d of %d batches would be merged to %d by stackmill compact, or after each ingest by --auto-compact: questions would read less",
		s.Merged, s.Before.Batches, s.Written)
}
