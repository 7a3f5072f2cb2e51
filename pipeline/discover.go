package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stackmill/internal/hosterr"
	"stackmill/internal/objstore"
	"stackmill/internal/safefile"
	"stackmill/stages/decode"
)

// input is one recording to read.
type input struct {
	path     string // absolute, or an address
	at       string // the path to read: path itself, or a local copy's
	from     origin // set for a remote or compressed recording; nil: read it in place
	decoder  decode.Decoder
	err      error             // why there is no recording at path
	bytes    int64             // its size, 0 if unknown
	recorded int64             // bytes without copies of load objects, which do not become rows
	state    string            // a hash of the names, sizes and times of its files; empty if unknown
	kept     *storedExperiment // the experiment, if it is read from the store; nil for a recording
}

// Errors of inputs.
var (
	// ErrNoRecording: no decoder recognizes anything at the path.
	ErrNoRecording = errors.New("no recording found (expected a .er directory, a .erg group, a perf.data file, a pprof file, or a folder of them)")
	// ErrUnknownFormat: the file looks like a damaged recording.
	ErrUnknownFormat = errors.New("not a recording of a known format")
)

// origin is a recording that has to be copied before it can be read.
type origin interface {
	// plainName returns the base name of the recording's local copy.
	plainName() string
	// bring copies the recording to a path.
	bring(ctx context.Context, to string) error
}

// finder finds the recordings at paths.
type finder struct {
	ctx       context.Context
	recursive bool
	found     []input
	seen      map[string]bool
	remote    [][]input // recordings by path, for paths that are addresses
	// skip, if not nil, reports whether to skip an entry of a folder. unrelated, if not nil, is
	// called with each entry that is neither a recording nor looks like a damaged one.
	skip      func(path string, e fs.DirEntry) bool
	unrelated func(path string, e fs.DirEntry)
}

// discover finds the recordings at the paths, in the order given, and within a folder by name. A
// path that is named twice counts once.
func discover(ctx context.Context, paths []string, recursive bool) []input {
	f := &finder{ctx: ctx, recursive: recursive, seen: map[string]bool{}, remote: discoverRemote(ctx, paths, recursive)}
	f.find(paths)
	return f.found
}

func (f *finder) find(paths []string) {
	for i, path := range paths {
		if objstore.Is(path) {
			f.addRemote(i)
			continue
		}
		if d := decoderOf(path); d != nil {
			f.members(path, d)
			continue
		}
		if f.compressed(path) {
			continue
		}
		before := len(f.found)
		err := f.search(path)
		if err == nil && len(f.found) == before {
			err = f.noneIn(path)
		}
		if err != nil {
			f.add(path, nil, err)
		}
	}
}

// maxWalked bounds the files and folders that are examined to hint at recordings further below.
const maxWalked = 10_000

// noneIn returns the error for a file that is not a recording, or a folder that contains none. If
// there are recordings in folders below, the error says so.
func (f *finder) noneIn(folder string) error {
	if info, err := os.Stat(folder); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return fmt.Errorf("%w: the file is empty", ErrNoRecording)
	}
	if files, err := os.ReadDir(folder); err == nil && len(files) == 0 {
		return fmt.Errorf("%w: the folder is empty", ErrNoRecording)
	}
	if isArchive(folder) {
		return fmt.Errorf("%w: %w", ErrNoRecording, errArchive)
	}
	if f.recursive {
		return ErrNoRecording
	}
	below, looks := "", 0
	_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error { // unreadable folders are skipped
		looks++
		switch {
		case f.ctx.Err() != nil || looks > maxWalked:
			return fs.SkipAll
		case err == nil && path != folder && decoderOf(path) != nil:
			below = path
			return fs.SkipAll
		}
		return nil
	})
	if below == "" {
		return ErrNoRecording
	}
	return fmt.Errorf("%w: but there is one further below, %s (--recursive looks there)", ErrNoRecording, below)
}

func (f *finder) add(path string, d decode.Decoder, err error) {
	if abs, aerr := filepath.Abs(path); aerr == nil {
		path = abs
	}
	if !f.seen[path] {
		f.seen[path] = true
		f.found = append(f.found, input{path: path, at: path, decoder: d, err: err})
	}
}

// compressed adds the recording in a compressed file; false if it contains none.
func (f *finder) compressed(path string) bool {
	c, err := compressedRecording(path)
	if c == nil && err == nil {
		return false
	}
	f.add(path, nil, err)
	if last := &f.found[len(f.found)-1]; c != nil && last.from == nil && last.err == nil && last.decoder == nil {
		last.from = c
	}
	return true
}

// addRemote adds the recordings at an address.
func (f *finder) addRemote(number int) {
	for _, in := range f.remote[number] {
		if !f.seen[in.path] {
			f.seen[in.path] = true
			f.found = append(f.found, in)
		}
	}
}

// members adds the recordings of a path: several for a .erg group, otherwise the path itself.
func (f *finder) members(path string, d decode.Decoder) {
	members, err := d.Members(path)
	if err != nil {
		f.add(path, nil, err)
		return
	}
	for _, m := range members {
		if md := decoderOf(m); md != nil {
			f.add(m, md, nil)
			continue
		}
		switch err := probe(m); {
		case err != nil:
			f.add(m, nil, fmt.Errorf("a member of %s: %w", path, err))
		default:
			f.add(m, nil, fmt.Errorf("a member of %s: %w", path, ErrNoRecording))
		}
	}
}

// search adds the recordings in a folder and, if recursive, in the folders below. It also adds
// files that look like damaged recordings. It does not follow links to folders, which may form
// loops.
func (f *finder) search(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		if info, serr := os.Stat(folder); serr == nil && !info.IsDir() {
			return probe(folder)
		}
		return err
	}
	for _, e := range entries {
		if f.ctx.Err() != nil {
			return nil
		}
		path := filepath.Join(folder, e.Name())
		if f.skip != nil && f.skip(path, e) {
			continue
		}
		if d := decoderOf(path); d != nil {
			f.members(path, d)
			continue
		}
		if e.Type().IsRegular() && f.compressed(path) {
			continue
		}
		err := probe(path)
		if err == nil && f.recursive && e.Type()&fs.ModeDir != 0 {
			err = f.search(path)
		}
		switch {
		case err != nil:
			f.add(path, nil, err)
		case f.unrelated != nil:
			f.unrelated(path, e)
		}
	}
	return nil
}

// prober is a decoder that recognizes damaged recordings of its format.
type prober interface {
	// LooksLike reports whether a path without a readable recording of this format looks like one,
	// by its name or by what is left of its structure.
	LooksLike(path string) bool
}

// probe returns why a path that no decoder recognizes must still be reported: it looks like a
// damaged recording, or the machine could not read it. It returns nil for unrelated files.
func probe(path string) error {
	f, info, err := safefile.Open(path, safefile.Recording)
	if err == nil {
		_, unreadable := f.Read(make([]byte, 1))
		f.Close()
		if hosterr.Is(unreadable) {
			return fmt.Errorf("%s: %w", path, unreadable)
		}
	}
	if hosterr.Is(err) {
		return err
	}
	for _, d := range decoders {
		m, ok := d.(prober)
		switch {
		case !ok || !m.LooksLike(path):
		case err == nil:
			return fmt.Errorf("%w: it looks like a damaged recording of %s (%d bytes)", ErrUnknownFormat, d.Name(), info.Size())
		case errors.Is(err, safefile.ErrNotRegular) && isDir(path):
			return fmt.Errorf("%w: the folder looks like a damaged recording of %s", ErrUnknownFormat, d.Name())
		default:
			return err
		}
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
