package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stackmill/stages/decode"
)

// input is one recording to read.
type input struct {
	path    string // absolute
	decoder decode.Decoder
	err     error // why there is no recording at path
}

// ErrNoRecording says that a path holds nothing that a decoder takes.
var ErrNoRecording = errors.New("no recording found (expected a .er directory, a .erg group, a perf.data file, or a folder of them)")

// discover finds the recordings that the paths stand for, in the order given;
// those of a folder in the order of their names. A path named twice counts once.
func discover(paths []string, recursive bool) []input {
	var found []input
	seen := map[string]bool{}
	add := func(path string, d decode.Decoder, err error) {
		if abs, aerr := filepath.Abs(path); aerr == nil {
			path = abs
		}
		if !seen[path] {
			seen[path] = true
			found = append(found, input{path, d, err})
		}
	}
	for _, path := range paths {
		if d := decoderOf(path); d != nil {
			addMembers(path, d, add)
			continue
		}
		before := len(found)
		err := search(path, recursive, add)
		if err == nil && len(found) == before {
			err = ErrNoRecording
		}
		if err != nil {
			add(path, nil, err)
		}
	}
	return found
}

func addMembers(path string, d decode.Decoder, add func(string, decode.Decoder, error)) {
	members, err := d.Members(path)
	if err != nil {
		add(path, nil, err)
		return
	}
	for _, m := range members {
		if md := decoderOf(m); md != nil {
			add(m, md, nil)
		} else {
			add(m, nil, fmt.Errorf("a member of %s: %w", path, ErrNoRecording))
		}
	}
}

// search adds the recordings in a folder, and below it if recursive.
func search(folder string, recursive bool, add func(string, decode.Decoder, error)) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		if info, serr := os.Stat(folder); serr == nil && info.Mode().IsRegular() {
			return ErrNoRecording
		}
		return err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch d := decoderOf(path); {
		case d != nil:
			addMembers(path, d, add)
		case recursive && e.Type()&fs.ModeDir != 0:
			if err := search(path, true, add); err != nil {
				add(path, nil, err)
			}
		}
	}
	return nil
}
