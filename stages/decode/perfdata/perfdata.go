// Package perfdata reads the recordings of Linux perf. Its references are the
// sections of formats/perf-data, cited as `perf-data 6`.
package perfdata

import (
	stdcontext "context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"stackmill/internal/safefile"
	"stackmill/internal/spill"
	"stackmill/stages/decode"
)

// Decoder reads perf.data files and directories. The zero value is ready to use.
type Decoder struct{}

var _ decode.Decoder = (*Decoder)(nil)

// New returns a decoder.
func New() *Decoder { return &Decoder{} }

// Name returns `perf`.
func (d *Decoder) Name() string { return "perf" }

// mainFile is the file of a directory recording that has the header.
const mainFile = "data"

// Detect reports whether path is a file that begins like a recording, or a directory
// that holds one (perf-data 3.2).
func (d *Decoder) Detect(path string) bool {
	return hasMagic(path) || hasMagic(filepath.Join(path, mainFile))
}

func hasMagic(path string) bool {
	f, _, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magicLittle))
	_, err = io.ReadFull(f, head)
	return err == nil && beginsRecording(head)
}

// Members returns path itself.
func (d *Decoder) Members(path string) ([]string, error) { return []string{path}, nil }

// Files returns the recording's files; the empty name stands for a recording
// that is one file.
func (d *Decoder) Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{""}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Name() == mainFile || strings.HasPrefix(e.Name(), mainFile+".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Open is OpenContext without a context.
func (d *Decoder) Open(path string) *decode.Recording {
	return d.OpenContext(stdcontext.Background(), path)
}

// OpenContext reads a recording: it looks at every record once, and keeps the
// places of the samples.
func (d *Decoder) OpenContext(ctx stdcontext.Context, path string) *decode.Recording {
	space := spill.Of(ctx)
	r := &reader{
		ctx:             ctx,
		space:           space,
		window:          int(max(leastWindow, space.Mapped)),
		rec:             &decode.Recording{Format: d.Name(), PageSize: 4096, WordBits: 64},
		byID:            map[uint64]int32{},
		imageIDs:        map[string]string{},
		ambiguousIDs:    map[string]bool{},
		unknownRecords:  map[uint32]int64{},
		unknownContexts: map[uint64]bool{},
		units:           map[uint32]string{},
		seenRecords:     map[uint32]int64{},
		lostBy:          map[uint64]uint64{},
	}
	r.moments.space = r.space
	r.rec.Locate = decode.AtPath
	r.rec.Close = r.close
	r.open(path)
	return r.rec
}
