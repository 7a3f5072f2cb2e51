package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/spf13/pflag"

	"stackmill/internal/exit"
	"stackmill/internal/hosterr"
	"stackmill/internal/objstore"
	"stackmill/pipeline"
	"stackmill/pipeline/plan"
	"stackmill/schema/storedir"
)

// chunkVariables are what schedulers call the number of a task.
var chunkVariables = []string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"}

// notOfChunks are the flags that a chunk's ingest does not have: paths and the store's
// report are the plan's, and other tasks run at the same time.
var notOfChunks = []string{"recursive", "report", "watch", "auto-compact"}

// checkPlan looks at the flags of a chunk's ingest. They must fit without a plan, too.
func (in *ingester) checkPlan(f *pflag.FlagSet, paths []string) error {
	if in.plan == "" {
		switch {
		case f.Changed("chunk"):
			return exit.Usagef("ingest: --chunk: it needs --plan")
		case len(paths) == 0:
			return exit.Usagef("ingest: no PATH is given (see stackmill ingest --help)")
		}
		return nil
	}
	if len(paths) > 0 {
		return exit.Usagef("ingest: --plan: the plan says which recordings to read, not %q", paths[0])
	}
	for _, name := range notOfChunks {
		if f.Changed(name) {
			return exit.Usagef("ingest: --%s: not with --plan", name)
		}
	}
	return nil
}

// chunkNumber returns the number of the chunk to do.
func (in *ingester) chunkNumber(f *pflag.FlagSet) (int, error) {
	if f.Changed("chunk") {
		return in.chunk, nil
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
	return 0, exit.Usagef("ingest: --plan: nothing says which chunk (give --chunk, or set %s or %s)", chunkVariables[0], chunkVariables[1])
}

// runChunk ingests a chunk of a plan.
func (in *ingester) runChunk(ctx context.Context, f *pflag.FlagSet) error {
	in.endsItself.Store(true)
	p, err := plan.Open(in.plan)
	if err != nil {
		return unready(fmt.Errorf("ingest: --plan: %w", err))
	}
	defer p.Close()
	if !f.Changed("store") {
		if err := in.reach(ctx, p.Store); err != nil {
			return unready(err)
		}
	}
	if err := in.checkAll(f); err != nil {
		return err
	}
	chunk, err := in.chunkNumber(f)
	if err != nil {
		return err
	}
	if chunk < 0 || chunk >= len(p.Chunks) {
		return exit.Usagef("ingest: --chunk: no chunk %d, %s has %d (from 0)", chunk, in.plan, len(p.Chunks))
	}
	in.chunk = chunk
	inputs, err := p.Inputs(chunk)
	if err != nil {
		return unready(fmt.Errorf("ingest: --plan: %w", err))
	}
	paths := make([]string, len(inputs))
	for i := range inputs {
		paths[i] = inputs[i].Path
	}
	if err := in.checkOutputs(); err != nil {
		return unready(err)
	}
	in.report, in.NoJournal = plan.ReportPath(in.store, p.ID, chunk), true
	if err := os.MkdirAll(filepath.Dir(in.report), 0o777); err != nil {
		return unready(fmt.Errorf("ingest: --plan: %w", err))
	}
	in.marks = plan.MarksOf(in.store, p.ID, chunk)
	if in.Contents, err = in.known(p); err != nil {
		return unready(fmt.Errorf("ingest: --plan: %w", err))
	}
	o := in.once(ctx, paths)
	o.err = o.ofChunk()
	err = in.tell(&o, paths, nil)
	if o.err == nil { // of the report
		err = unready(err)
	}
	return err
}

// known returns what a plan knows of the store, with what tasks have put in of the chunk since.
// It is nil, so that the store is looked at, if the plan knows nothing of this store, or
// if not all of that is there: a task was killed before its commit, or the batch was merged.
func (in *ingester) known(p *plan.Plan) (*storedir.Contents, error) {
	if absolute(in.store) != p.Store {
		return nil, nil
	}
	c, err := p.Contents(in.store)
	if c == nil || err != nil {
		return nil, err
	}
	batches, err := in.marks.Batches()
	if err != nil {
		return nil, err
	}
	switch err := c.AddByName(batches...); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, storedir.ErrDamaged): // what it had is put in again
		return c, nil
	default:
		return c, err
	}
}

// placeReport writes the report of a chunk into the store. Of a task that is killed meanwhile,
// the next ingest removes what is left.
func (in *ingester) placeReport(r *ingestReport) error {
	scratch, err := storedir.NewScratch(in.store)
	if err != nil {
		return err
	}
	defer scratch.Remove()
	temp := filepath.Join(scratch.Dir, filepath.Base(in.report))
	if err := r.write(temp); err != nil {
		return err
	}
	if err := storedir.ReplaceFile(temp, in.report); err != nil {
		return err
	}
	return storedir.Push(in.store, path.Join(plan.Dir, filepath.Base(filepath.Dir(in.report)), filepath.Base(in.report)))
}

// unready is the error of a task that could not begin. It may begin elsewhere or later,
// unless it is no fault of the machine.
func unready(err error) error {
	if errors.As(err, new(syscall.Errno)) || hosterr.Is(err) && !objstore.IsPermanent(err) {
		return exit.With(plan.Retry, err)
	}
	return err
}

// ofChunk returns the error of a chunk's ingest, with the exit status that tells a scheduler
// whether the same task may come to more: not if data is lost for good.
func (o *outcome) ofChunk() error {
	is := func(what func(*pipeline.Result) bool) func(pipeline.Result) bool {
		return func(r pipeline.Result) bool { return what(&r) }
	}
	aborted := func(r *pipeline.Result) bool { return r.Status == pipeline.Aborted }
	there := func(r *pipeline.Result) bool { return !errors.Is(r.Err, fs.ErrNotExist) }
	switch {
	case o.err == nil:
		return nil
	case o.interrupted, slices.ContainsFunc(o.results, is(aborted)):
		return exit.With(plan.Retry, o.err)
	case len(o.results) == 0:
		return unready(o.err)
	case !slices.ContainsFunc(o.results, is(there)):
		return exit.With(plan.Retry, errors.New("ingest: --plan: none of the chunk's recordings is there (is their file system mounted here?)"))
	}
	return exit.With(exit.Lost, o.err)
}
