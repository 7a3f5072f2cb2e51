// Package runner runs ingests for a user: once, as a watch, or as a chunk of a plan. It prints or
// logs the results, and writes the report and the metrics.
//
// Start reading with Runner.Run.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/internal/atomicfile"
	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/schema/storedir"
)

// Runner runs ingests.
type Runner struct {
	*terminal.Output
	pipeline.Options
	Report, Metrics  string   // files to write, "" for none
	SourcePaths      []string // rules of Options.Sources, as given
	LogFormat        string   // "" is text, unless standard error is a terminal
	AutoCompact      bool
	Watch            bool
	Interval, Settle time.Duration // for a watch: time between looks, and how long an unfinished recording must be unchanged
	Plan             string        // the file of a plan
	Chunk            int           // which chunk of the plan to ingest

	// Refresh brings the catalog of the store up to date. If nil, the next reader does that, and
	// batches are not merged.
	Refresh func(store string) error

	suggested bool // compact was suggested already
}

// outcome is the outcome of one ingest.
type outcome struct {
	started, ended time.Time
	results        []pipeline.Result
	totals         *totals
	interrupted    bool
	compaction     *compaction // nil unless batches were to be merged
	err            error       // what went wrong, with the exit status; nil for status 0

	// Only for a report or metrics:
	batches  []batchReport
	store    *storeSize // nil if it is not known
	resident int64      // the most memory of this process, in bytes
}

// measure adds times, totals and sizes to an outcome.
func (run *Runner) measure(o *outcome, before time.Duration) {
	o.ended, o.totals = time.Now(), totalsOf(o.results)
	used := usage()
	o.totals.cpu = cpuTime(used) - before
	if run.Report == "" && run.Metrics == "" {
		return
	}
	o.batches = batchesOf(run.Store, o.results)
	o.totals.count(o.batches)
	o.store, o.resident = run.measureStore(), used.Maxrss<<10
}

// Run ingests the recordings at the paths once, or watches the paths.
func (run *Runner) Run(ctx context.Context, paths []string) error {
	if err := run.checkOutputs(); err != nil {
		return err
	}
	if run.Watch {
		return run.watchPaths(ctx, paths)
	}
	o := run.once(ctx, paths)
	return run.finish(&o, paths, nil)
}

// once ingests the recordings at the paths, makes the catalog, and prints or logs the results.
func (run *Runner) once(ctx context.Context, paths []string) (o outcome) {
	o.started = time.Now()
	before := cpuTime(usage())
	defer func() { run.measure(&o, before) }()
	opts := run.Options
	opts.Progress = &pipeline.Progress{}
	log := run.logger()
	stop := func() {}
	if log == nil {
		stop = showProgress(run.Stderr, opts.Progress)
	} else {
		opts.Done = func(r pipeline.Result) { logResult(log, r) }
	}
	o.results, o.err = pipeline.Ingest(ctx, opts, paths...)
	stop()
	o.interrupted = ctx.Err() != nil
	if len(o.results) == 0 && o.err != nil {
		o.err = fmt.Errorf("ingest: nothing was read: %w", exit.Interrupted(ctx, o.err))
		return o
	}
	if run.Plan == "" && !storedir.IsCache(opts.Store) { // many tasks would each make the catalog: the next reader does
		run.refresh()
	}
	s := summary{Output: run.Output, store: run.Store, results: o.results, stopped: exit.Interrupted(ctx, o.err), log: log}
	o.err = s.print(time.Since(o.started))
	run.compactAfterwards(ctx, &o, log)
	return o
}

// refresh brings the catalog up to date. If that fails, the recordings are in the store
// nevertheless.
func (run *Runner) refresh() {
	if run.Refresh == nil {
		return
	}
	if err := run.Refresh(run.Store); err != nil && !errors.Is(err, storedir.ErrNoStore) {
		run.Warnf("%v (the recordings are in the store; the next report or query rebuilds the catalog)", err)
	}
}

// finish writes the report and the metrics. It returns the outcome's error or, if it has none, the
// error of writing.
func (run *Runner) finish(o *outcome, paths []string, w *watchTotals) error {
	var errs []error
	if run.Report != "" {
		r, write := run.newReport(o, paths, w), func(r *Report) error { return r.write(run.Report) }
		if run.Plan != "" {
			write = run.placeReport
		}
		if err := write(r); err != nil {
			errs = append(errs, fmt.Errorf("ingest: --report: %w (what was ingested is in the store)", err))
		}
	}
	if run.Metrics != "" {
		if err := run.writeMetrics(o, o.totals, o.ended); err != nil {
			errs = append(errs, fmt.Errorf("ingest: --metrics: %w (what was ingested is in the store)", err))
		}
	}
	if o.err == nil {
		return errors.Join(errs...)
	}
	for _, err := range errs {
		run.Warnf("%v", err)
	}
	return o.err
}

// usage returns the resources that this process has used so far.
func usage() (u unix.Rusage) {
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // it cannot fail
	return u
}

// cpuTime returns the user and system CPU time.
func cpuTime(u unix.Rusage) time.Duration {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// logger returns the log, nil if a terminal shows the progress instead.
func (run *Runner) logger() *slog.Logger {
	switch {
	case run.LogFormat == LogJSON:
		return slog.New(slog.NewJSONHandler(run.Stderr, nil))
	case run.LogFormat == "" && terminal.Is(run.Stderr):
		return nil
	}
	return slog.New(slog.NewTextHandler(run.Stderr, nil))
}

// The formats of the log.
const (
	LogText = "text"
	LogJSON = "json"
)

// checkOutputs returns an error if the report or the metrics will not be writable at the end.
func (run *Runner) checkOutputs() error {
	for name, path := range map[string]string{"report": run.Report, "metrics": run.Metrics} {
		if path == "" {
			continue
		}
		if err := atomicfile.Check(path); err != nil {
			return fmt.Errorf("ingest: --%s: %w", name, err)
		}
	}
	return nil
}
