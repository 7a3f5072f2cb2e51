package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"stackmill/internal/exit"
	"stackmill/internal/objstore"
	"stackmill/internal/terminal"
	"stackmill/pipeline"
)

// watchTotals are the totals of a watch so far.
type watchTotals struct {
	Since  time.Time `json:"since"`
	Rounds int       `json:"rounds"` // rounds that had something to do
	Totals *totals   `json:"totals"`

	lost int // number of recordings that lost data
}

// watchPaths ingests recordings as they appear at the paths and are complete. It returns when the
// context ends or the store fails.
func (run *Runner) watchPaths(ctx context.Context, paths []string) error {
	for _, p := range paths {
		if objstore.Is(p) {
			return exit.Usagef("ingest: --watch: only local folders can be watched, not %s (run ingest repeatedly instead: it skips stored recordings)", p)
		}
		if _, err := os.Stat(p); err != nil {
			return fmt.Errorf("ingest: --watch: %w", err)
		}
	}
	w := &watchTotals{Since: time.Now().UTC(), Totals: newTotals()}
	last := &outcome{started: w.Since, ended: w.Since, totals: newTotals(), store: run.measureStore()}
	watcher := pipeline.NewWatcher(paths, run.Recursive, run.Settle)
	aborted := ""
	for ctx.Err() == nil {
		ready := watcher.Ready(ctx, time.Now())
		if len(ready) == 0 {
			if err := run.writeIdleMetrics(last); err != nil {
				return err
			}
			wait(ctx, run.Interval)
			continue
		}
		o := run.once(ctx, ready)
		last = &o
		watcher.Done(o.results)
		w.add(&o)
		if err := run.finish(&o, paths, w); err != nil && len(o.results) == 0 && !o.interrupted {
			return err
		} else if err != nil && !o.interrupted && err.Error() != aborted {
			aborted = err.Error()
			run.Warnf("%v", err)
		}
		last.results, last.batches = nil, nil // they were reported already
		if watcher.Pending() {
			wait(ctx, run.Interval)
		}
	}
	return w.end(last)
}

// writeIdleMetrics writes the metrics after a round in which nothing was ready.
func (run *Runner) writeIdleMetrics(last *outcome) error {
	if run.Metrics == "" {
		return nil
	}
	if err := run.writeMetrics(last, nil, time.Now()); err != nil {
		return fmt.Errorf("ingest: --metrics: %w", err)
	}
	return nil
}

// wait waits until the time is over or the context ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (w *watchTotals) add(o *outcome) {
	w.Rounds++
	w.Totals.add(o.totals)
	for i := range o.results {
		if r := &o.results[i]; r.Lost() && r.Status != pipeline.Aborted {
			w.lost++
		}
	}
}

// end returns the error of a watch that has ended, with the exit status.
func (w *watchTotals) end(last *outcome) error {
	var exits *exit.Error
	switch {
	case last.totals.Experiments[pipeline.Aborted] > 0 && errors.As(last.err, &exits): // says what is in
		return exit.With(exit.Lost, exits.Err)
	case last.interrupted:
		return exit.With(exit.Lost, last.err)
	case w.lost > 0:
		return exit.With(exit.Lost, fmt.Errorf("ingest: data of %d of %s that arrived since %s was lost or unreadable (stackmill problems lists it)",
			w.lost, terminal.Plural(w.Totals.Inputs, "recording"), w.Since.Format(time.DateTime)))
	case last.compaction != nil && !last.compaction.interrupted:
		return last.compaction.exitError()
	}
	return nil
}
