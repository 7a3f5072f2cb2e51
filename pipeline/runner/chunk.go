package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"stackmill/internal/exit"
	"stackmill/internal/hosterr"
	"stackmill/internal/objstore"
	"stackmill/pipeline"
	"stackmill/pipeline/plan"
	"stackmill/schema/storedir"
)

// RunChunk ingests the chunk of a plan that run.Chunk selects.
func (run *Runner) RunChunk(ctx context.Context, p *plan.Plan) error {
	inputs, err := p.Inputs(run.Chunk)
	if err != nil {
		return Unready(fmt.Errorf("ingest: --plan: %w", err))
	}
	paths := make([]string, len(inputs))
	for i := range inputs {
		paths[i] = inputs[i].Path
	}
	if err := run.checkOutputs(); err != nil {
		return Unready(err)
	}
	run.Report, run.NoJournal = plan.ReportPath(run.Store, p.ID, run.Chunk), true
	if err := os.MkdirAll(filepath.Dir(run.Report), 0o777); err != nil {
		return Unready(fmt.Errorf("ingest: --plan: %w", err))
	}
	marks := plan.MarksOf(run.Store, p.ID, run.Chunk)
	run.Committing = func(c storedir.Commit) { _ = marks.Add(c.Batch) } // a mark only saves time
	if run.Contents, err = run.plannedContents(p, marks); err != nil {
		return Unready(fmt.Errorf("ingest: --plan: %w", err))
	}
	o := run.once(ctx, paths)
	o.err = o.chunkError()
	err = run.finish(&o, paths, nil)
	if o.err == nil { // err is the report's
		err = Unready(err)
	}
	return err
}

// plannedContents returns the contents of the store that the plan holds, plus the batches that
// tasks have committed for the chunk since. It returns nil if the caller must read the store: the
// plan has no contents of this store, or a marked batch is missing, because a task was killed
// before its commit or the batch was merged.
func (run *Runner) plannedContents(p *plan.Plan, marks plan.Marks) (*storedir.Contents, error) {
	if plan.Absolute(run.Store) != p.Store {
		return nil, nil
	}
	c, err := p.Contents(run.Store)
	if c == nil || err != nil {
		return nil, err
	}
	batches, err := marks.Batches()
	if err != nil {
		return nil, err
	}
	switch err := c.AddByName(batches...); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, storedir.ErrDamaged): // its recordings are ingested again
		return c, nil
	default:
		return c, err
	}
}

// placeReport writes the report of a chunk into the store. If the task is killed meanwhile, the
// next ingest removes the unfinished file.
func (run *Runner) placeReport(r *Report) error {
	scratch, err := storedir.NewScratch(run.Store)
	if err != nil {
		return err
	}
	defer scratch.Remove()
	temp := filepath.Join(scratch.Dir, filepath.Base(run.Report))
	if err := r.write(temp); err != nil {
		return err
	}
	if err := storedir.ReplaceFile(temp, run.Report); err != nil {
		return err
	}
	return storedir.Push(run.Store, path.Join(plan.Dir, filepath.Base(filepath.Dir(run.Report)), filepath.Base(run.Report)))
}

// Unready returns the error of a task that could not begin. If the machine is at fault, the exit
// status asks for a retry.
func Unready(err error) error {
	if errors.As(err, new(syscall.Errno)) || hosterr.Is(err) && !objstore.IsPermanent(err) {
		return exit.With(plan.Retry, err)
	}
	return err
}

// chunkError returns the error of a chunk's ingest. Its exit status tells a scheduler whether to
// run the task again: not if data of recordings is lost for good.
func (o *outcome) chunkError() error {
	aborted := func(r pipeline.Result) bool { return r.Status == pipeline.Aborted }
	exists := func(r pipeline.Result) bool { return !errors.Is(r.Err, fs.ErrNotExist) }
	switch {
	case o.err == nil:
		return nil
	case o.interrupted, slices.ContainsFunc(o.results, aborted):
		return exit.With(plan.Retry, o.err)
	case len(o.results) == 0:
		return Unready(o.err)
	case !slices.ContainsFunc(o.results, exists):
		return exit.With(plan.Retry, errors.New("ingest: --plan: none of the chunk's recordings is there (is their file system mounted here?)"))
	}
	return exit.With(exit.Lost, o.err)
}
