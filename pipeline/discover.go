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
	at       string // where it is read: the path, or where its objects were brought
	from     origin // nil: it is read where it is
	decoder  decode.Decoder
	err      error    // why there is no recording at path
	bytes    int64    // its size, 0 if unknown
	recorded int64    // bytes without copies of load objects, which become no rows
	state    string   // a hash of what its files are, by all but their content; empty if unknown
	kept     *inStore // of an experiment that is in the store; nil for a recording
}

// What is wrong with an input.
var (
	// ErrNoRecording says that a path holds nothing that a decoder takes.
	ErrNoRecording = errors.New("no recording found (expected a .er directory, a .erg group, a perf.data file, a pprof file, or a folder of them)")
	// ErrUnknownFormat says that a file was meant to be a recording, and is damaged.
	ErrUnknownFormat = errors.New("not a recording of a known format")
)

// origin is where the files of a recording are that is not read where it is.
type origin interface {
	// plainName returns the base name that the recording has where it is read.
	plainName() string
	// bring makes the recording's files at a path.
	bring(ctx context.Context, to string) error
}

// finder finds the recordings that paths stand for.
type finder struct {
	ctx       context.Context
	recursive bool
	found     []input
	seen      map[string]bool
	elsewhere [][]input // what was found at those paths that are addresses
	// passes reports whether what is in a folder is passed by, nothing is told of a file or
	// folder that has nothing to do with recordings. Both may be nil.
	passes  func(path string, e fs.DirEntry) bool
	nothing func(path string, e fs.DirEntry)
}

// discover finds the recordings that the paths stand for, in the order given;
// those of a folder in the order of their names. A path named twice counts once.
func discover(ctx context.Context, paths []string, recursive bool) []input {
	f := &finder{ctx: ctx, recursive: recursive, seen: map[string]bool{}, elsewhere: discoverElsewhere(ctx, paths, recursive)}
	f.find(paths)
	return f.found
}

func (f *finder) find(paths []string) {
	for i, path := range paths {
		if objstore.Is(path) {
			f.there(i)
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

// mostLooks is how many files and folders are looked at to say that recordings are further
// below.
const mostLooks = 10_000

// noneIn is the error for a file that is none, and for a folder without recordings. It
// says so if there are some further below.
func (f *finder) noneIn(folder string) error {
	if info, err := os.Stat(folder); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return fmt.Errorf("%w: the file is empty", ErrNoRecording)
	}
	if isArchive(folder) {
		return fmt.Errorf("%w: %w", ErrNoRecording, errArchive)
	}
	if f.recursive {
		return ErrNoRecording
	}
	below, looks := "", 0
	_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error { // what cannot be read is passed by
		looks++
		switch {
		case f.ctx.Err() != nil || looks > mostLooks:
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

// compressed adds the recording that a compressed file holds; false if it holds none.
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

// there adds what was found at an address.
func (f *finder) there(number int) {
	for _, in := range f.elsewhere[number] {
		if !f.seen[in.path] {
			f.seen[in.path] = true
			f.found = append(f.found, in)
		}
	}
}

// members adds the recordings that a path stands for.
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
		switch err := meant(m); {
		case err != nil:
			f.add(m, nil, fmt.Errorf("a member of %s: %w", path, err))
		default:
			f.add(m, nil, fmt.Errorf("a member of %s: %w", path, ErrNoRecording))
		}
	}
}

// search adds the recordings in a folder, and below it if recursive, and the
// files in it that were meant to be recordings. Links to folders are not
// followed: they may lead in circles.
func (f *finder) search(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		if info, serr := os.Stat(folder); serr == nil && !info.IsDir() {
			return meant(folder)
		}
		return err
	}
	for _, e := range entries {
		if f.ctx.Err() != nil {
			return nil
		}
		path := filepath.Join(folder, e.Name())
		if f.passes != nil && f.passes(path, e) {
			continue
		}
		if d := decoderOf(path); d != nil {
			f.members(path, d)
			continue
		}
		if e.Type().IsRegular() && f.compressed(path) {
			continue
		}
		err := meant(path)
		if err == nil && f.recursive && e.Type()&fs.ModeDir != 0 {
			err = f.search(path)
		}
		switch {
		case err != nil:
			f.add(path, nil, err)
		case f.nothing != nil:
			f.nothing(path, e)
		}
	}
	return nil
}

// meanter is a decoder that recognizes damaged recordings of its format.
type meanter interface {
	// LooksLike reports whether a path that holds no recording of this format was meant
	// to, by its name or by what is left of its structure.
	LooksLike(path string) bool
}

// meant returns why a path that no decoder takes must still be reported: it was meant
// to be a recording, or a fault of the machine kept it from being read. Nil for what
// has nothing to do with recordings.
func meant(path string) error {
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
		m, ok := d.(meanter)
		switch {
		case !ok || !m.LooksLike(path):
		case err == nil:
			return fmt.Errorf("%w: it was meant to be one of %s, and is damaged (%d bytes)", ErrUnknownFormat, d.Name(), info.Size())
		case errors.Is(err, safefile.ErrNotRegular) && isDir(path):
			return fmt.Errorf("%w: the folder was meant to be a recording of %s", ErrUnknownFormat, d.Name())
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
