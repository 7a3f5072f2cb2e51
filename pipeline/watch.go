package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stackmill/internal/safefile"
)

// Watcher polls paths and finds complete recordings: those that say that they are complete, and
// those that have not changed for the settle time. It measures that time by this machine's clock,
// because a file server's clock may differ.
type Watcher struct {
	paths      []string
	recursive  bool
	settle     time.Duration // an unfinished recording is ready after this time without a change
	recordings map[string]*observation
	unrelated  map[string]safefile.Stamp // files that are no recordings
	round      int
	pending    bool
}

// observation is the last known state of a recording, or of something that looks like one.
type observation struct {
	state    string         // a description of its files (input.describeFiles), or why they cannot be read
	since    time.Time      // when it was first seen in that state
	stamp    safefile.Stamp // stamp of the recording's own file or folder
	finished bool
	ingested bool // it was ingested in that state
	round    int  // the last round that saw it
}

// NewWatcher returns a watcher that has seen nothing yet.
func NewWatcher(paths []string, recursive bool, settle time.Duration) *Watcher {
	paths = slices.Clone(paths)
	for i, p := range paths {
		if abs, err := filepath.Abs(p); err == nil {
			paths[i] = abs
		}
	}
	return &Watcher{paths: paths, recursive: recursive, settle: settle, recordings: map[string]*observation{}, unrelated: map[string]safefile.Stamp{}}
}

// recheckRounds: in every recheckRounds-th round, the watcher opens finished, ingested recordings
// even if they seem unchanged from outside, because one of their files may have been replaced.
const recheckRounds = 30

// Ready polls the paths and returns the recordings to ingest now, in the order in which they are
// found: finished ones that are the same as in the round before, and others that have not changed
// for the settle time. It returns a recording each time until Done reports it, and again once it
// has changed.
func (w *Watcher) Ready(ctx context.Context, now time.Time) (paths []string) {
	w.round++
	unrelated := map[string]safefile.Stamp{}
	f := &finder{ctx: ctx, recursive: w.recursive, seen: map[string]bool{}}
	f.skip = func(path string, e fs.DirEntry) bool { return w.unchanged(path, e, unrelated) }
	f.unrelated = func(path string, e fs.DirEntry) {
		if !e.Type().IsRegular() {
			return
		}
		if info, err := e.Info(); err == nil && info.Size() > 0 {
			unrelated[path] = safefile.StampOf(info)
		}
	}
	f.find(w.paths)
	for i := range f.found {
		if ctx.Err() != nil {
			return nil
		}
		if !errors.Is(f.found[i].err, ErrNoRecording) && w.observe(&f.found[i], now) {
			paths = append(paths, f.found[i].path)
		}
	}
	if ctx.Err() != nil {
		return nil // the round is incomplete
	}
	w.unrelated = unrelated
	maps.DeleteFunc(w.recordings, func(_ string, o *observation) bool { return o.round != w.round })
	return paths
}

// unchanged reports whether an entry of a folder need not be opened: its stamp is the same as in
// the round before. For an entry that is no recording, it copies the stamp to unrelated.
func (w *Watcher) unchanged(path string, e fs.DirEntry, unrelated map[string]safefile.Stamp) bool {
	if e.Type()&fs.ModeSymlink != 0 {
		return false
	}
	o, before := w.recordings[path], w.unrelated[path]
	if before == (safefile.Stamp{}) && (o == nil || !o.ingested || !o.finished || w.round%recheckRounds == 0) {
		return false
	}
	info, err := e.Info()
	if err != nil {
		return false
	}
	switch stamp := safefile.StampOf(info); {
	case before != (safefile.Stamp{}) && stamp == before:
		unrelated[path] = before
		return true
	case o != nil && stamp == o.stamp:
		o.round = w.round
		return true
	}
	return false
}

// observe updates the observation of an input and reports whether the input is ready.
func (w *Watcher) observe(in *input, now time.Time) bool {
	state, finished := in.currentState()
	o := w.recordings[in.path]
	same := o != nil && o.state == state
	if !same {
		o = &observation{state: state, since: now}
		w.recordings[in.path] = o
	}
	o.round, o.finished = w.round, finished
	if info, err := os.Lstat(in.path); err == nil {
		o.stamp = safefile.StampOf(info)
	}
	return !o.ingested && same && (finished || now.Sub(o.since) >= w.settle)
}

// Done takes the results of recordings that Ready returned. Ready returns one again only when it
// has changed, or if it was aborted.
func (w *Watcher) Done(results []Result) {
	w.pending = false
	for i := range results {
		if o := w.recordings[results[i].Path]; o != nil {
			o.ingested = results[i].Status != Aborted
			w.pending = w.pending || !o.ingested
		}
	}
}

// Pending reports whether the last results had an aborted recording, which is ready again.
func (w *Watcher) Pending() bool { return w.pending }

// finisher is a decoder that can tell a finished recording from one that is being made or
// copied.
type finisher interface {
	// Finished reports whether the recording at path says that it is complete. It reads little of
	// it.
	Finished(path string) bool
}

// currentState returns a hash of the names and attributes of the input's files, and whether its
// recording is finished.
func (in *input) currentState() (state string, finished bool) {
	if in.err != nil {
		state = in.err.Error()
		if info, err := os.Stat(in.path); err == nil {
			state = fmt.Sprint(safefile.StampOf(info), state)
		}
		return state, false
	}
	state, _ = in.describeFiles()
	d, ok := in.decoder.(finisher) // not for a compressed file
	return state, ok && d.Finished(in.path)
}
