package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"stackmill/queries"
	"stackmill/stages/write"
)

func newCheckCommand(a *app) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "check",
		Short: "Prove the store: checksums, row counts, and every view's sums",
		Long: `Proves the store: every committed file has the size, checksum, rows and columns
with which it was committed, every key is unique, and every view's invariants
hold, among them that all parts sum to <Total> and that the values are those
recomputed from samples and stacks.

Exit status: 0 the store is right; 4 something is wrong, it is listed; 1 the
store cannot be looked at.`,
		Example: `  stackmill check
  stackmill check --store /data/profiles --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains([]string{"table", "json"}, format) {
				return usageErrorf("check: --format: no format %q (one of table, json)", format)
			}
			return a.check(cmd.Context(), format)
		},
	}
	c.Flags().StringVar(&format, "format", "table", "table or json")
	return c
}

func (a *app) check(ctx context.Context, format string) error {
	progress, done := checkProgress(a.stderr)
	p, err := queries.Check(ctx, a.store, progress)
	done()
	if errors.Is(err, write.ErrNoStore) {
		return fmt.Errorf("check: no store at %s (run `stackmill ingest --store %s PATH` first)", a.store, a.store)
	}
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if format == "json" {
		_ = a.printJSON(p, false)
	} else {
		a.printProof(p)
	}
	if len(p.Wrong) > 0 {
		return &exitError{exitWrong, fmt.Errorf("check: the store %s is wrong in %d places (ingest the recordings into a new store)", a.store, len(p.Wrong))}
	}
	return nil
}

func (a *app) printProof(p *queries.Proof) {
	_ = a.printf("%d batches, %d files: %d rows in %d bytes are as committed\n", p.Batches, p.Files, p.Rows, p.Bytes)
	if p.Invariants > 0 {
		_ = a.printf("%d keys, %d invariants of the views: looked at\n", p.Keys, p.Invariants)
	} else {
		_ = a.printf("the views were not looked at\n")
	}
	if len(p.Wrong) == 0 {
		_ = a.printf("nothing is wrong\n")
	}
	for _, w := range p.Wrong {
		_ = a.printf("wrong: %s\n", strings.ReplaceAll(w.String(), "\n", " "))
	}
}

// checkProgress shows a bar on a terminal.
func checkProgress(w io.Writer) (progress func(string, int, int), done func()) {
	f, ok := w.(io.Reader) // an *os.File
	if !ok || !isTerminal(f) {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	what := ""
	return func(now string, n, total int) {
			if now != what {
				what = now
				bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(now), progressbar.OptionClearOnFinish())
			}
			_ = bar.Set(n)
		}, func() {
			if bar != nil {
				_ = bar.Finish()
			}
		}
}
