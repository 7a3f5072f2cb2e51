package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"stackmill/internal/exit"
	"stackmill/pipeline/plan"
	"stackmill/pipeline/runner"
)

// chunkVariables are the variables in which schedulers pass the number of a task.
var chunkVariables = []string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"}

// notOfChunks are the flags that do not apply to the ingest of a chunk: its plan sets the paths and
// where the report goes, and other tasks write to the store at the same time.
var notOfChunks = []string{"recursive", "report", "watch", "auto-compact"}

// checkPlan checks the flags for a chunk of a plan. Without --plan, it refuses them.
func (in *ingester) checkPlan(f *pflag.FlagSet, paths []string) error {
	if in.Plan == "" {
		switch {
		case f.Changed("chunk"):
			return exit.Usagef("ingest: --chunk: it needs --plan")
		case len(paths) == 0:
			return exit.Usagef("ingest: no PATH is given (see stackmill ingest --help)")
		}
		return nil
	}
	if len(paths) > 0 {
		return exit.Usagef("ingest: --plan: the plan lists the recordings to read (leave out %q)", paths[0])
	}
	for _, name := range notOfChunks {
		if f.Changed(name) {
			return exit.Usagef("ingest: --%s cannot be combined with --plan", name)
		}
	}
	return nil
}

// chunkNumber returns the number of the chunk to ingest.
func (in *ingester) chunkNumber(f *pflag.FlagSet) (int, error) {
	if f.Changed("chunk") {
		return in.Chunk, nil
	}
	for _, name := range chunkVariables {
		if text := os.Getenv(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				return 0, exit.Usagef("ingest: --plan: %s is %q, not the number of a chunk", name, text)
			}
			return n, nil
		}
	}
	return 0, exit.Usagef("ingest: --plan: no chunk given (give --chunk, or set %s or %s)", chunkVariables[0], chunkVariables[1])
}

// runChunk ingests a chunk of a plan.
func (in *ingester) runChunk(ctx context.Context, f *pflag.FlagSet) error {
	in.endsItself.Store(true)
	p, err := plan.Open(in.Plan)
	if err != nil {
		return runner.Unready(fmt.Errorf("ingest: --plan: %w", err))
	}
	defer p.Close()
	if !f.Changed("store") {
		if err := in.reach(ctx, p.Store); err != nil {
			return runner.Unready(err)
		}
	}
	if err := in.checkAll(f); err != nil {
		return err
	}
	if in.Chunk, err = in.chunkNumber(f); err != nil {
		return err
	}
	if in.Chunk < 0 || in.Chunk >= len(p.Chunks) {
		return exit.Usagef("ingest: --chunk: there is no chunk %d: %s has %d, numbered from 0", in.Chunk, in.Plan, len(p.Chunks))
	}
	return in.RunChunk(ctx, p)
}
