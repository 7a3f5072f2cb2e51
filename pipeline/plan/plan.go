// Package plan splits the recordings of a large ingest into chunks, each for one task of a
// scheduler, and reports the outcome of each from the store.
//
// A plan is a file that never changes: a Header, which is a line of JSON, then a line for each
// Input, by chunk, then the contents of the store, compressed. The header has a checksum of each
// part, so that a task reads the header, its own lines and the last part only. A task ingests the
// recordings of its chunk as any ingest does, except that it does not look for batches that others
// have stored since the plan was made. Its Marks name the batches that it has stored itself, so that
// a task may be killed, run again, and run twice at once. It leaves its report in the store, at
// ReportPath.
//
// Start reading with Write and Open; jobs.go writes the job files, status.go reads the outcome.
package plan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"stackmill/internal/safefile"
	"stackmill/schema/storedir"
)

// Header is the first line of a plan.
type Header struct {
	Version int       `json:"plan_version"`
	Program string    `json:"program"` // version of the program that made the plan
	Store   string    `json:"store"`   // absolute path
	Made    time.Time `json:"made"`
	Task    Task      `json:"task"`
	Chunks  []Chunk   `json:"chunks"`
	Had     *Part     `json:"had,omitempty"` // what the store had; nil in plans of older programs
	// ID is the xxhash64 of the line with zeros in place of the ID, 16 hex digits.
	ID string `json:"id"`
}

// Version is the version of the file format.
const Version = 1

// Task has the options of each task.
type Task struct {
	CPUs   int      `json:"cpus"`             // processors
	Memory int64    `json:"memory"`           // the ingest's memory limit in bytes
	Ingest []string `json:"ingest,omitempty"` // further options of ingest
}

// ForgottenToo is the option of ingest that stores deleted experiments again.
const ForgottenToo = "--forgotten"

// Chunk is the work of one task.
type Chunk struct {
	Inputs  int     `json:"inputs"`
	Bytes   int64   `json:"bytes"`   // size of the recordings
	Seconds float64 `json:"seconds"` // estimated time of the task
	Part            // where the chunk's lines are
}

// Part locates a part of a plan. Each begins where the one before ends.
type Part struct {
	Length   int64  `json:"length"`   // in bytes
	Checksum string `json:"checksum"` // xxhash64
}

func partOf(text []byte) Part { return Part{int64(len(text)), storedir.Checksum(xxhash.Sum64(text))} }

// Input is a recording.
type Input struct {
	Path  string `json:"path"` // absolute
	Bytes int64  `json:"bytes"`
	// State is a hash of the names, sizes and times of its files, as in storedir.JournalEntry; empty if unknown.
	State string `json:"state,omitempty"`
	// Had is the id of the experiment that the store had for this path, with an earlier content.
	Had string `json:"had,omitempty"`
}

// Plan is an open plan. Its methods may be called concurrently.
type Plan struct {
	Header
	path  string
	file  *os.File
	first int64 // offset of the first input's line
}

// ErrNoPlan is the error for a file that is not a plan, or whose checksums do not match.
var ErrNoPlan = errors.New("not a plan, or damaged")

// mostHeader bounds the bytes of the first line, which has about 100 for each chunk.
const mostHeader = 64 << 20

const noID = "0000000000000000"

// Write writes a plan for a store with the contents had. It sets the parts and the ID in the
// header.
func Write(w io.Writer, h *Header, chunks [][]Input, had *storedir.Contents) error {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	for i, inputs := range chunks {
		start := text.Len()
		for n := range inputs {
			if err := lines.Encode(&inputs[n]); err != nil {
				return err
			}
		}
		h.Chunks[i].Part = partOf(text.Bytes()[start:])
	}
	start := text.Len()
	z, err := zstd.NewWriter(&text, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if err := errors.Join(had.WriteSnapshot(z), z.Close()); err != nil {
		return err
	}
	part := partOf(text.Bytes()[start:])
	h.Had = &part
	head, err := h.encode()
	if err == nil {
		_, err = w.Write(head)
	}
	if err == nil {
		_, err = w.Write(text.Bytes())
	}
	return err
}

// encode returns the line of the header, and fills in its version and ID.
func (h *Header) encode() ([]byte, error) {
	h.Version, h.ID = Version, noID
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	h.ID = storedir.Checksum(xxhash.Sum64(head))
	copy(head[bytes.LastIndex(head, []byte(noID)):], h.ID)
	return append(head, '\n'), nil
}

// Open opens a plan. The error wraps ErrNoPlan if the file is not a plan, or its header is damaged.
func Open(path string) (p *Plan, err error) {
	p = &Plan{path: path}
	if p.file, _, err = safefile.Open(path, safefile.Plan); err != nil {
		return nil, err
	}
	if err := p.readHeader(); err != nil {
		return nil, errors.Join(err, p.file.Close())
	}
	return p, nil
}

// Close closes the file.
func (p *Plan) Close() error { return p.file.Close() }

func (p *Plan) readHeader() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s: offset 0: %w: %s", p.path, ErrNoPlan, fmt.Sprintf(format, args...))
	}
	head, err := bufio.NewReader(io.LimitReader(p.file, mostHeader)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err != nil {
		return wrong("it has no whole first line of at most %d bytes", mostHeader)
	}
	p.first = int64(len(head))
	head = head[:len(head)-1]
	if err := json.Unmarshal(head, &p.Header); err != nil {
		return wrong("%v", err)
	}
	if p.Version != Version {
		return wrong("it has version %d, but this program has %d (make a new plan)", p.Version, Version)
	}
	at := bytes.LastIndex(head, []byte(p.ID))
	if len(p.ID) != len(noID) || at < 0 {
		return wrong("it has no checksum")
	}
	copy(head[at:], noID)
	if sum := storedir.Checksum(xxhash.Sum64(head)); sum != p.ID {
		return wrong("its first line has checksum %s, but says %s", sum, p.ID)
	}
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	left := info.Size() - p.first
	for i, part := range p.parts() {
		if part.Length < 0 || part.Length > left {
			return wrong("part %d has %d bytes, of which %d are there", i, part.Length, left)
		}
		left -= part.Length
	}
	return nil
}

// parts returns the parts after the header in their order: the chunks, then the contents of the
// store.
func (p *Plan) parts() (list []Part) {
	for i := range p.Chunks {
		list = append(list, p.Chunks[i].Part)
	}
	if p.Had != nil {
		list = append(list, *p.Had)
	}
	return list
}

// read reads a part, by its index in parts(). The error wraps ErrNoPlan if the part is damaged;
// wrong makes such errors for the caller.
func (p *Plan) read(part int) (text []byte, wrong func(why string) error, err error) {
	at, what := p.first, "what the store had"
	for _, before := range p.parts()[:part] {
		at += before.Length
	}
	if part < len(p.Chunks) {
		what = fmt.Sprintf("chunk %d", part)
	}
	wrong = func(why string) error {
		return fmt.Errorf("%s: offset %d: %w: %s: %s", p.path, at, ErrNoPlan, what, why)
	}
	is := p.parts()[part]
	text = make([]byte, is.Length)
	if _, err := p.file.ReadAt(text, at); err != nil {
		return nil, wrong, err
	}
	if sum := storedir.Checksum(xxhash.Sum64(text)); sum != is.Checksum {
		return nil, wrong, wrong(fmt.Sprintf("it has checksum %s, the first line says %s", sum, is.Checksum))
	}
	return text, wrong, nil
}

// Contents returns the contents of the store as a snapshot; nil if the plan has none.
func (p *Plan) Contents(store string) (*storedir.Contents, error) {
	if p.Had == nil {
		return nil, nil
	}
	text, wrong, err := p.read(len(p.Chunks))
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(bytes.NewReader(text), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	had, err := storedir.ReadSnapshot(store, z)
	if err != nil {
		return nil, wrong(err.Error())
	}
	return had, nil
}

// Inputs returns the inputs of a chunk. The error wraps ErrNoPlan if its lines are damaged.
func (p *Plan) Inputs(chunk int) ([]Input, error) {
	text, wrong, err := p.read(chunk)
	if err != nil {
		return nil, err
	}
	lines := json.NewDecoder(bytes.NewReader(text))
	var inputs []Input
	for lines.More() {
		var in Input
		if err := lines.Decode(&in); err != nil {
			return nil, wrong(err.Error())
		}
		inputs = append(inputs, in)
	}
	if n := p.Chunks[chunk].Inputs; len(inputs) != n {
		return nil, wrong(fmt.Sprintf("it has %d recordings, the first line says %d", len(inputs), n))
	}
	return inputs, nil
}

// Count returns the number of inputs of all chunks.
func (h *Header) Count() (n int) {
	for i := range h.Chunks {
		n += h.Chunks[i].Inputs
	}
	return n
}

// Longest returns the estimated seconds of the longest chunk.
func (h *Header) Longest() (s float64) {
	for i := range h.Chunks {
		s = max(s, h.Chunks[i].Seconds)
	}
	return s
}
