package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/schema/storedir"
)

// outcome is what came of one run of an ingest.
type outcome struct {
	started, ended time.Time
	results        []pipeline.Result
	tally          *tally
	interrupted    bool
	compacted      *compacted // nil unless batches were to be merged
	err            error      // with the exit status, nil for 0

	// Only for a report or metrics:
	batches  []batchReport
	store    *storeSize // nil if it is not known
	resident int64      // the most memory of this process, in bytes
}

// measure completes an outcome.
func (in *ingester) measure(o *outcome, before time.Duration) {
	o.ended, o.tally = time.Now(), tallyOf(o.results)
	used := usage()
	o.tally.cpu = cpuTime(used) - before
	if in.report == "" && in.metrics == "" {
		return
	}
	o.batches = batchesOf(in.store, o.results)
	o.tally.count(o.batches)
	o.store, o.resident = in.sizeOf(), used.Maxrss<<10
}

// run ingests once, or watches.
func (in *ingester) run(ctx context.Context, paths []string) error {
	in.endsItself.Store(true)
	if err := in.checkOutputs(); err != nil {
		return err
	}
	if in.watch {
		return in.watchPaths(ctx, paths)
	}
	o := in.once(ctx, paths)
	return in.tell(&o, paths, nil)
}

// once ingests what is at the paths, makes the catalog, and prints what became of the
// recordings.
func (in *ingester) once(ctx context.Context, paths []string) (o outcome) {
	o.started = time.Now()
	before := cpuTime(usage())
	defer func() { in.measure(&o, before) }()
	opts := in.Options
	opts.Progress = &pipeline.Progress{}
	log := in.logger()
	var bar *progressBar
	if log == nil {
		bar = newProgressBar(in.Stderr, opts.Progress)
	} else {
		opts.Done = func(r pipeline.Result) { logResult(log, r) }
	}
	if in.plan != "" {
		opts.Committing = func(c storedir.Commit) { _ = in.marks.Add(c.Batch) } // it only saves time
	}
	o.results, o.err = pipeline.Ingest(ctx, opts, paths...)
	if bar != nil {
		bar.stop()
	}
	o.interrupted = ctx.Err() != nil
	if len(o.results) == 0 && o.err != nil {
		o.err = fmt.Errorf("ingest: nothing was read: %w", interruption(ctx, o.err))
		return o
	}
	if in.plan == "" && !storedir.IsCache(opts.Store) { // many tasks would each make the catalog: the next reader does
		in.publish(opts.Store)
	}
	s := summary{app: in.app, results: o.results, stopped: interruption(ctx, o.err), log: log}
	o.err = s.print(time.Since(o.started))
	in.afterwards(ctx, &o, log)
	return o
}

// tell writes the report and the metrics, if they are asked for, and returns the outcome's
// error, or why they could not be written.
func (in *ingester) tell(o *outcome, paths []string, w *watched) error {
	var errs []error
	if in.report != "" {
		r, write := in.newReport(o, paths, w), func(r *ingestReport) error { return r.write(in.report) }
		if in.plan != "" {
			write = in.placeReport
		}
		if err := write(r); err != nil {
			errs = append(errs, fmt.Errorf("ingest: --report: %w (what was ingested is in the store)", err))
		}
	}
	if in.metrics != "" {
		if err := in.writeMetrics(o, o.tally, o.ended); err != nil {
			errs = append(errs, fmt.Errorf("ingest: --metrics: %w (what was ingested is in the store)", err))
		}
	}
	if o.err == nil {
		return errors.Join(errs...)
	}
	for _, err := range errs {
		in.Warnf("%v", err)
	}
	return o.err
}

// usage is what this process has taken so far.
func usage() (u unix.Rusage) {
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // it cannot fail
	return u
}

// cpuTime is the time of the processors, the system's for the process included.
func cpuTime(u unix.Rusage) time.Duration {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// interruption replaces the error if a signal ended the ingest.
func interruption(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

var errInterrupted = errors.New("interrupted")

// logger returns the log; nil if there is a terminal that shows the progress instead.
func (in *ingester) logger() *slog.Logger {
	switch {
	case in.logFormat == logJSON:
		return slog.New(slog.NewJSONHandler(in.Stderr, nil))
	case in.logFormat == "" && terminal.Is(in.Stderr):
		return nil
	}
	return slog.New(slog.NewTextHandler(in.Stderr, nil))
}

// The formats of the log.
const (
	logText = "text"
	logJSON = "json"
)
