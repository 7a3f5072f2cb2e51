package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Sights are the recordings that were seen at paths, and how long each has not changed:
// they say which are complete. Nothing but their own clock is compared, since that of a
// file server may be another. What is not there any more is forgotten.
type Sights struct {
	paths     []string
	recursive bool
	settle    time.Duration // after which one that is not finished is ready
	seen      map[string]*sight
	other     map[string]stamp // files that are no recordings
	looks     int
	left      bool
}

// sight is a recording, or what looks like one.
type sight struct {
	state    string    // of its files, or why they cannot be read
	since    time.Time // when it was first seen in that state
	stamp    stamp     // of the recording's own file or folder
	finished bool
	done     bool // it was ingested in that state
	look     int  // the last look that saw it
}

// stamp tells a file from what takes its place.
type stamp struct {
	size, modified int64
	inode          uint64
}

// NewSights begins: nothing was seen.
func NewSights(paths []string, recursive bool, settle time.Duration) *Sights {
	paths = slices.Clone(paths)
	for i, p := range paths {
		if abs, err := filepath.Abs(p); err == nil {
			paths[i] = abs
		}
	}
	return &Sights{paths: paths, recursive: recursive, settle: settle, seen: map[string]*sight{}, other: map[string]stamp{}}
}

// everyLook is how often finished recordings are looked into that were ingested and seem
// the same from outside: a file of theirs may have been replaced in its place.
const everyLook = 30

// Ready looks at the paths and returns the recordings that are to be ingested now, in the
// order in which they are found: those that are finished and were the same at the look
// before, and others that have been the same for the time to settle. Each is returned until
// Done says what became of it, and again when it has changed.
func (s *Sights) Ready(ctx context.Context, now time.Time) (paths []string) {
	s.looks++
	f := &finder{ctx: ctx, recursive: s.recursive, seen: map[string]bool{}}
	others := map[string]stamp{}
	f.passes = func(path string, e fs.DirEntry) bool { return s.passes(path, e, others) }
	f.nothing = func(path string, e fs.DirEntry) { remember(others, path, e) }
	f.find(s.paths)
	for i := range f.found {
		if ctx.Err() != nil {
			return nil
		}
		if !errors.Is(f.found[i].err, ErrNoRecording) && s.see(&f.found[i], now) {
			paths = append(paths, f.found[i].path)
		}
	}
	if ctx.Err() != nil {
		return nil // not all was seen
	}
	s.other = others
	for path, x := range s.seen {
		if x.look != s.looks {
			delete(s.seen, path)
		}
	}
	return paths
}

// passes reports whether what is in a folder need not be opened.
func (s *Sights) passes(path string, e fs.DirEntry, others map[string]stamp) bool {
	if e.Type()&fs.ModeSymlink != 0 {
		return false
	}
	x, before := s.seen[path], s.other[path]
	if before == (stamp{}) && (x == nil || !x.done || !x.finished || s.looks%everyLook == 0) {
		return false
	}
	info, err := e.Info()
	if err != nil {
		return false
	}
	switch is := stampOf(info); {
	case before != (stamp{}) && is == before:
		others[path] = before
		return true
	case x != nil && is == x.stamp:
		x.look = s.looks
		return true
	}
	return false
}

// remember notes a file that is no recording.
func remember(others map[string]stamp, path string, e fs.DirEntry) {
	if !e.Type().IsRegular() {
		return
	}
	if info, err := e.Info(); err == nil && info.Size() > 0 {
		others[path] = stampOf(info)
	}
}

func stampOf(info fs.FileInfo) stamp {
	is := stamp{size: info.Size(), modified: info.ModTime().UnixNano()}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		is.inode = s.Ino
	}
	return is
}

// see notes what is found, and reports whether it is to be ingested.
func (s *Sights) see(in *input, now time.Time) bool {
	state, finished := in.sight()
	x := s.seen[in.path]
	same := x != nil && x.state == state
	if !same {
		x = &sight{state: state, since: now}
		s.seen[in.path] = x
	}
	x.look, x.finished = s.looks, finished
	if info, err := os.Lstat(in.path); err == nil {
		x.stamp = stampOf(info)
	}
	return !x.done && same && (finished || now.Sub(x.since) >= s.settle)
}

// Done says what became of recordings that were ready: those that no fault of the machine
// kept out are not ready again until they have changed.
func (s *Sights) Done(results []Result) {
	s.left = false
	for i := range results {
		if x := s.seen[results[i].Path]; x != nil {
			x.done = results[i].Status != Aborted
			s.left = s.left || !x.done
		}
	}
}

// Left reports whether something that was ready could not be ingested.
func (s *Sights) Left() bool { return s.left }

// finisher is a decoder that can tell a finished recording from one that is being made or
// copied.
type finisher interface {
	// Finished reports whether the recording at path says that it is complete. It
	// reads little.
	Finished(path string) bool
}

// sight returns what distinguishes the input from what it was before, and whether its
// recording is finished.
func (in *input) sight() (state string, finished bool) {
	if in.err != nil {
		state = in.err.Error()
		if info, err := os.Stat(in.path); err == nil {
			state = fmt.Sprint(stampOf(info), state)
		}
		return state, false
	}
	state, _ = in.describeFiles()
	d, ok := in.decoder.(finisher) // not for a compressed file
	return state, ok && d.Finished(in.path)
}
