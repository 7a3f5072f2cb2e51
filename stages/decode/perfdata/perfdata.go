// Package perfdata reads recordings of Linux perf. Comments cite the sections of
// docs/formats/perf-data.md as `perf-data 6`.
//
// Start reading with Decoder.Open, then reader.go and scan.go (records), timeline.go
// (processes and mappings), steps.go (samples).
package perfdata

import (
	"context"
	"encoding/binary"
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
		meta:  metadata{imageIDs: map[string]string{}, ambiguousIDs: map[string]bool{}, cpus: map[uint64]bool{}, cpuOf: map[uint64]uint64{}},
		found: recordIndex{sampleRefs: sampleRefs{space: space}, switchRefs: sampleRefs{space: space}, sumRefs: sampleRefs{space: space}, owners: map[int32]owner{}},
		stat:  statRecords{refs: sampleRefs{space: space}},
		stats: statistics{incomplete: map[string]int64{}},
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

// Finished reports whether a recording is complete: its header says where the data ends, which perf
// writes last, and the file is that long (perf-data 1.1, 3.2). A recording from a pipe never counts
// as finished.
func (d *Decoder) Finished(path string) bool {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, mainFile)
	}
	f, info, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, headerSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return false
	}
	h, err := readHeader(head[:n])
	if err != nil || h.pipe || h.data.size == 0 {
		return false
	}
	// A table with the section of each feature follows the data.
	size := uint64(info.Size())
	table := section{h.data.offset + h.data.size, uint64(16 * len(h.features))}
	if !table.lies(size) || table.offset < h.data.offset {
		return false
	}
	entries := make([]byte, table.size)
	if _, err := f.ReadAt(entries, int64(table.offset)); err != nil && len(entries) > 0 {
		return false
	}
	for c := cursorOf(entries, h.big); len(c.Rest) >= 16; {
		if s := (section{c.U64(), c.U64()}); !s.lies(size) {
			return false
		}
	}
	return true
}

// lies reports whether a section lies in a file of that size.
func (s section) lies(size uint64) bool { return s.offset <= size && s.size <= size-s.offset }

// LooksLike reports whether a path that Detect rejects seems to be a damaged recording: it has a
// name that perf gives, or a valid header after damaged first bytes (perf-data 1.1, 3.1).
func (d *Decoder) LooksLike(path string) bool {
	main := filepath.Join(path, mainFile)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		_, err := os.Stat(main)
		return err == nil && isRecordingName(filepath.Base(path)) || hasStructure(main)
	}
	return isRecordingName(filepath.Base(path)) || hasStructure(path)
}

// isRecordingName reports whether a name contains `perf.data` with separators around it.
func isRecordingName(base string) bool {
	before, behind, ok := strings.Cut(base, "perf.data")
	boundary := func(s string) bool { return s == "" || !isLetter(s[0]) }
	return ok && boundary(behind) && (before == "" || !isLetter(before[len(before)-1])) && !isDerived(behind)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isDerived reports whether the suffix of a recording's name belongs to a file made from it: a
// report, an archive, a checksum.
func isDerived(behind string) bool {
	switch filepath.Ext(behind) {
	case "", ".old", ".data":
		return false
	}
	for _, c := range filepath.Ext(behind)[1:] {
		if c < '0' || c > '9' {
			return true
		}
	}
	return false // a number, as in perf.data.1
}

// hasStructure reports whether a file, apart from its magic number, has a header with plausible
// sections, or continues like a recording from a pipe.
func hasStructure(path string) bool {
	f, info, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, headerSize)
	if n, err := io.ReadFull(f, head); n < 64 || err != nil && err != io.ErrUnexpectedEOF {
		return false
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		word := func(i int) uint64 { return order.Uint64(head[8*i:]) }
		within := func(offset, size uint64) bool {
			return offset >= headerSize-32 && offset <= uint64(info.Size()) && size <= uint64(info.Size())-offset
		}
		switch word(1) {
		case headerSize, headerSize - 32:
			entry := word(2)
			if entry >= minAttr+16 && entry < 1<<12 && word(4) > 0 && word(4)%entry == 0 && within(word(3), word(4)) && within(word(5), 0) {
				return true
			}
		case pipeHeaderSize:
			typ, size := order.Uint32(head[16:]), order.Uint16(head[22:])
			if typ >= recordTool && typ <= recordToolKnown && size >= recordHeader && size%8 == 0 {
				return true
			}
		}
	}
	return false
}
