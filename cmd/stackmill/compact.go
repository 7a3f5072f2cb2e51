//go:build cgo

package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/pipeline/compact"
	"stackmill/queries"
	"stackmill/queries/console"
	"stackmill/queries/text"
	"stackmill/schema/storedir"
)

// compacter runs `stackmill compact`.
type compacter struct {
	*app
	compact.Options
	format string
}

func newCompactCommand(a *app) *cobra.Command {
	v := &compacter{app: a}
	c := &cobra.Command{
		Use:   "compact",
		Short: "Merge small batches into large ones, sorted by experiment",
		Long: `Merges neighboring small batches into larger ones, whose rows are sorted by experiment:
the store then has fewer files and bytes, and queries read less. Rows of deleted and
replaced experiments are dropped, which frees their disk space.

Other programs may read and write the store meanwhile. Replaced files stay for programs
that are reading them; the next compact or ingest after --keep removes them. A merged
batch is at least 1.5 times as large as the largest batch in it, so large batches are
seldom rewritten, and compact does nothing until enough new data has accumulated. A batch
is rewritten alone when an eighth of its experiments were deleted or replaced; with
--purge, when a single one was.

A store of format 14 or 15 is first converted to today's format, batch by batch (format
14 from the views of its stackmill.duckdb). If that is interrupted, the next compact
continues.

Exit status: 0 done; 4 some batches were not merged because their files are damaged
(see "stackmill check"); 1 compact failed, or could not finish.`,
		Example: `  stackmill compact
  stackmill compact --dry-run
  stackmill compact --keep 0 --memory 512M`,
		Args: optionsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkSpace(v.Memory); err != nil {
				return fmt.Errorf("compact: %w", err)
			}
			return v.run(cmd.Context())
		},
	}
	f := c.Flags()
	sizeVar(f, &v.TargetSize, "target-size", fmt.Sprintf("%dM", compact.DefaultSize>>20), "approximate size of the largest table of a merged batch")
	f.DurationVar(&v.Keep, "keep", storedir.Keep, "how long replaced files stay for programs that are reading them")
	f.BoolVar(&v.Purge, "purge", false, "rewrite every batch that has deleted or replaced experiments")
	f.BoolVar(&v.DryRun, "dry-run", false, "list what would be merged, and change nothing")
	sizeVar(f, &v.Memory, "memory", "1G", "memory limit, e.g. 512M or 2G")
	f.IntVar(&v.Jobs, "jobs", runtime.NumCPU(), "how many tables to merge at once")
	atLeast(f, "keep", &v.Keep, 0)
	atLeast(f, "jobs", &v.Jobs, 1)
	formatVar(c, &v.format, "table or json", "table", "json")
	return c
}

// uncounted is an allowance for memory that counts toward --memory, but not toward Go's memory
// limit.
const uncounted = 128 << 20

func (v *compacter) run(ctx context.Context) error {
	v.endsItself.Store(true)
	v.Store, v.Program = v.store, programVersion()
	debug.SetMemoryLimit(v.Memory - min(v.Memory/4, uncounted))
	start := time.Now()
	var done func()
	v.Progress, done = terminal.ByteProgress(v.Stderr, "merging")
	v.Committed = func() {
		if err := queries.Refresh(v.Store); err != nil {
			v.Warnf("%v (the store is merged; the next report or query makes the catalog)", err)
		}
	}
	v.Older = func(ctx context.Context, batches []*storedir.Batch) (compact.Older, error) {
		return queries.OpenOlder(ctx, v.Store, queries.Limits{Memory: v.Memory / 2}, batches)
	}
	s, err := compact.Run(ctx, v.Options)
	done()
	switch {
	case ctx.Err() != nil:
		return exit.ErrInterrupted
	case err != nil:
		return fmt.Errorf("compact: %w", console.NoStore(v.store, err))
	}
	if v.format == "json" {
		err = terminal.PrintJSON(v.Stdout, s, false)
	} else {
		err = v.print(&s, time.Since(start))
	}
	if err == nil && len(s.Damaged) > 0 {
		err = exit.With(exit.Damaged, fmt.Errorf("compact: damaged batches were not merged: %s (stackmill check says more)", strings.Join(s.Damaged, ", ")))
	}
	return err
}

func (v *compacter) print(s *compact.Summary, took time.Duration) error {
	if s.Rewritten > 0 {
		if err := v.Printf("converted %s of an older store format\n", text.Plural(s.Rewritten, "batch")); err != nil {
			return err
		}
	}
	switch {
	case v.DryRun && s.Merged > 0:
		return v.Printf("%d of %s would be merged into %d\n", s.Merged, text.Plural(s.Before.Batches, "batch"), s.Written)
	case s.Merged == 0:
		return v.Printf("nothing to merge: %s\n", sizeText(s.After))
	}
	return v.Printf("merged %s into %d in %.1f s\nbefore: %s\nafter:  %s\n", text.Plural(s.Merged, "batch"), s.Written, took.Seconds(), sizeText(s.Before), sizeText(s.After))
}

func sizeText(s compact.Size) string {
	return fmt.Sprintf("%s in %s, %s, %d bytes", text.Plural(s.Experiments, "experiment"), text.Plural(s.Batches, "batch"), text.Plural(s.Files, "file"), s.Bytes)
}
