//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/console"
	"stackmill/queries/forget"
	"stackmill/queries/text"
	"stackmill/schema/storedir"
)

func newCheckCommand(a *app) *cobra.Command {
	var format, since string
	var memory int64
	var repair, bySQL bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Verify the store: commits, checksums, row counts, and every view's sums",
		Long: `Verifies that every commit and every committed file is as it was written (size, checksum,
rows, columns), that there are no other files, that every key is unique, that the
invariants of every view hold (among them that all values sum to <Total> and equal
those recomputed from samples and stacks), and that the catalog has the right
definitions. It changes nothing.

Leftovers of a killed ingest are reported, but are not an error: the next ingest or
reader cleans them up.

--since checks only batches committed since a time (2026-11-21, 2026-11-21T06:00:00Z),
within an age (24h, 7d), or since a batch, which is included. For older batches it
reads the commits, and verifies that their files exist with the right sizes.

Sums are verified by reading the files. Experiments for which that is not enough are
verified by queries of the views, and the report says how many there were. With --sql, all
experiments are.

--repair first removes files that no commit names, leaves out experiments with damaged
commits or files until the next ingest of their recordings, and rebuilds a wrong catalog.
It prints what it did. Then it checks the store.

Exit status: 0 the store is intact; 4 something is wrong, and listed; 1 the store
could not be checked, or not completely.`,
		Example: `  stackmill check
  stackmill check --store /data/profiles --format json
  stackmill check --since 24h
  stackmill check --repair`,
		Args: optionsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := sinceOption(since, time.Now())
			o.SQL, o.Limits.Memory = bySQL, memory
			if repair {
				if err := a.repair(cmd.Context()); err != nil {
					return err
				}
			}
			return a.check(cmd.Context(), format, o)
		},
	}
	formatVar(c, &format, "table or json", "table", "json")
	sizeVar(c.Flags(), &memory, "memory", "", "memory to use, e.g. 256M or 4G; what does not fit goes to temporary files (default: 2G, less on a small machine)")
	c.Flags().StringVar(&since, "since", "", "check only batches committed since a time, within an age, or since a batch")
	c.Flags().BoolVar(&bySQL, "sql", false, "verify all sums by queries of the views, which takes many times as long")
	c.Flags().BoolVar(&repair, "repair", false, "repair the store first")
	return c
}

func (a *app) check(ctx context.Context, format string, o queries.CheckOptions) error {
	if o.Limits.Memory > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(o.Limits.Memory))
	}
	progress, done := terminal.StepProgress(a.Stderr)
	o.Progress = progress
	p, err := queries.Check(ctx, a.store, o)
	done()
	var unknown *queries.SinceError
	if errors.As(err, &unknown) {
		return exit.Usagef("check: --since: %q is neither a time nor an age, and %w", unknown.Batch, err)
	}
	if p != nil && (err == nil || len(p.Wrong) > 0) {
		if format == "json" {
			_ = terminal.PrintJSON(a.Stdout, p, false)
		} else {
			_ = text.Check(&a.Output, p)
		}
	}
	if err != nil {
		return a.unchecked(err)
	}
	if len(p.Wrong) > 0 {
		return exit.With(exit.Damaged, fmt.Errorf("check: the store %s has %s (run stackmill check --repair, then ingest again what is left out)", storedir.DisplayName(a.store), text.Plural(len(p.Wrong), "defect")))
	}
	return nil
}

// sinceOption parses the value of --since: a time, an age or the name of a batch.
func sinceOption(text string, now time.Time) (o queries.CheckOptions) {
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			o.Since = at
			return o
		}
	}
	if age, err := forget.ParseAge(text); err == nil {
		o.Since = now.Add(-age)
		return o
	}
	o.SinceBatch = text
	return o
}

// unchecked rewords the error that kept "check" from reading a store.
func (a *app) unchecked(err error) error {
	err = console.NoStore(a.store, err)
	switch lower := strings.ToLower(err.Error()); {
	case errors.Is(err, storedir.ErrNoStore):
		return fmt.Errorf("check: %w", err)
	case errors.Is(err, syscall.EMFILE), strings.Contains(lower, syscall.EMFILE.Error()):
		return errors.New("check: the store could not be checked: too many open files (allow more with `ulimit -n`)")
	}
	return fmt.Errorf("check: the store %s: %w", storedir.DisplayName(a.store), err)
}

func (a *app) repair(ctx context.Context) error {
	repaired := 0
	err := queries.Repair(ctx, a.store, func(where, what string) {
		repaired++
		a.Messagef("repaired: %s: %s\n", where, what)
	})
	if err != nil {
		return a.unchecked(err)
	}
	if repaired == 0 {
		a.Messagef("nothing had to be repaired\n")
	}
	return nil
}
