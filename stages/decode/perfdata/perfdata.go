// Package perfdata reads recordings of Linux perf. Comments cite the sections of
// docs/formats/perf-data.md as `perf-data 6`.
//
// Start reading with Decoder.OpenContext, then reader.go and scan.go (records), timeline.go
// (processes and mappings), steps.go (samples).
package perfdata

import (
	"context"
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

// Detect reports whether path is a recording, or a directory with one (perf-data 3.2).
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

// Files returns the names of the recording's files, an empty one if the recording is a single
// file.
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

// Open reads a recording: it scans all records once and notes the offsets of the samples.
func (d *Decoder) Open(ctx context.Context, path string) *decode.Recording {
	space := spill.FromContext(ctx)
	r := &reader{
		recordParser: recordParser{
			rec:   &decode.Recording{Format: d.Name(), PageSize: 4096, WordBits: 64},
			byID:  map[uint64]int32{},
			units: map[uint32]string{},
		},
		in:    input{ctx: ctx, space: space, window: int(max(leastWindow, space.Mapped))},
		meta:  metadata{imageIDs: map[string]string{}, ambiguousIDs: map[string]bool{}, cpus: map[uint64]bool{}},
		found: recordIndex{sampleRefs: sampleRefs{space: space}},
		unused: unusedContent{
			seenRecords: map[uint32]int64{}, unknownRecords: map[uint32]int64{},
			lostBy: map[uint64]uint64{}, contexts: map[uint64]bool{},
		},
	}
	r.rec.Locate = decode.AtPath
	r.rec.Close = r.close
	r.open(path)
	return r.rec
}
