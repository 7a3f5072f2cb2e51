package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"stackmill/internal/exit"
	"stackmill/internal/objstore"
	"stackmill/pipeline"
)

// watched is what a watch has done so far.
type watched struct {
	Since  time.Time `json:"since"`
	Rounds int       `json:"rounds"` // those that had something to do
	Totals *tally    `json:"totals"`

	lost int // recordings of which data was lost
}

// watchPaths ingests what appears at the paths and is complete, until the context ends or
// nothing can be done with the store.
func (in *ingester) watchPaths(ctx context.Context, paths []string) error {
	for _, p := range paths {
		if objstore.Is(p) {
			return exit.Usagef("ingest: --watch: it looks at folders, not at %s (run ingest again and again: what is in is skipped)", p)
		}
		if _, err := os.Stat(p); err != nil {
			return fmt.Errorf("ingest: --watch: %w", err)
		}
	}
	w := &watched{Since: time.Now().UTC(), Totals: newTally()}
	last := &outcome{started: w.Since, ended: w.Since, tally: newTally(), store: in.sizeOf()}
	watcher := pipeline.NewWatcher(paths, in.Recursive, in.settle)
	aborted := ""
	for ctx.Err() == nil {
		ready := watcher.Ready(ctx, time.Now())
		if len(ready) == 0 {
			if err := in.looked(last); err != nil {
				return err
			}
			wait(ctx, in.interval)
			continue
		}
		o := in.once(ctx, ready)
		last = &o
		watcher.Done(o.results)
		w.add(&o)
		if err := in.tell(&o, paths, w); err != nil && len(o.results) == 0 && !o.interrupted {
			return err
		} else if err != nil && !o.interrupted && err.Error() != aborted {
			aborted = err.Error()
			in.Warnf("%v", err)
		}
		last.results, last.batches = nil, nil // they are told
		if watcher.Pending() {
			wait(ctx, in.interval)
		}
	}
	return w.end(last)
}

// looked writes the metrics of a round that had nothing to do.
func (in *ingester) looked(last *outcome) error {
	if in.metrics == "" {
		return nil
	}
	if err := in.writeMetrics(last, nil, time.Now()); err != nil {
		return fmt.Errorf("ingest: --metrics: %w", err)
	}
	return nil
}

// wait waits for the time, or the context's end.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (w *watched) add(o *outcome) {
	w.Rounds++
	w.Totals.add(o.tally)
	for i := range o.results {
		if r := &o.results[i]; r.Lost() && r.Status != pipeline.Aborted {
			w.lost++
		}
	}
}

// end returns the exit status of a watch that was ended.
func (w *watched) end(last *outcome) error {
	var exits *exit.Error
	switch {
	case last.tally.Experiments[pipeline.Aborted] > 0 && errors.As(last.err, &exits): // says what is in
		return exit.With(exit.Lost, exits.Err)
	case last.interrupted:
		return exit.With(exit.Lost, last.err)
	case w.lost > 0:
		return exit.With(exit.Lost, fmt.Errorf("ingest: data of %d of %d recordings that came since %s was lost or unreadable (stackmill problems lists it)",
			w.lost, w.Totals.Inputs, w.Since.Format(time.DateTime)))
	case last.compacted != nil && !last.compacted.interrupted:
		return last.compacted.exit()
	}
	return nil
}
