// Package gprofngtest composes gprofng experiments (gprofng-experiment 1 to 4) for tests and
// benchmarks, including those that cannot be recorded everywhere: hardware counters, Java,
// big-endian and 32-bit processes. The same calls write the same bytes.
//
// Start reading with New, Experiment.Events and Experiment.Close.
package gprofngtest

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stackmill/schema"
	"stackmill/stages/decode/gprofng/archive"
)

// Experiment composes one experiment directory. Its fields may be set until the first method is
// called. All times that methods take are ns from Start. Close returns the first error of any
// method.
type Experiment struct {
	Dir                       string
	Form                      Form // the collector whose format is written
	Version, Collector        string
	Host, OS, Arch            string
	CPUs, ClockMHz, WordBits  int
	PageSize                  int64
	PID, PPID                 int64
	Command, WorkingDirectory string
	Start                     int64 // ns on the monotonic clock
	Wall                      int64 // s since 1970
	End                       int64 // time of the exit event
	Unclosed                  bool  // leave out the exit event
	Unpadded                  bool  // do not pad the logs with NULs

	log, maps   strings.Builder // lines
	layouts     []declaration
	events      [Kinds]*Events
	frames      *blocks
	uids        map[uint64]bool
	overview    []byte
	dyntext     []byte
	classes     *blocks
	descendants []*Experiment
	err         error
}

type declaration struct {
	kind   schema.Kind
	attrs  string
	layout []Layout
}

// New makes the experiment directory dir, whose name ends in `.er`. Its
// defaults are a 64-bit x86 process that ran for a second, recorded by gprofng.
func New(dir string) *Experiment { return NewIn(Gprofng, dir) }

// NewIn makes an experiment directory like New, but in the format of another collector.
func NewIn(form Form, dir string) *Experiment {
	e := &Experiment{
		Dir: dir, Form: form, Version: form.version(), Collector: form.Collector(),
		Host: "host", OS: "Linux 6.1", Arch: "x86_64", CPUs: 2, ClockMHz: 2600, WordBits: 64, PageSize: 4096,
		PID: 1000, PPID: 999, Command: "/bin/program", WorkingDirectory: "/",
		Start: 5_000_000_000, Wall: 1_700_000_000, End: 1_000_000_000,
		uids: map[uint64]bool{},
	}
	e.fail(os.MkdirAll(dir, 0o755))
	return e
}

// Descendant makes a descendant, such as `_f1`, on the same machine. start is relative to the
// founder's start. Closing the founder closes the descendant.
func (e *Experiment) Descendant(lineage string, start int64) *Experiment {
	d := NewIn(e.Form, filepath.Join(e.Dir, lineage+".er"))
	d.Version, d.Collector, d.Host, d.OS, d.Arch = e.Version, e.Collector, e.Host, e.OS, e.Arch
	d.CPUs, d.ClockMHz, d.WordBits, d.PageSize = e.CPUs, e.ClockMHz, e.WordBits, e.PageSize
	d.PID, d.PPID = e.PID+int64(len(e.descendants))+1, e.PID
	d.Start = e.Start + start
	e.descendants = append(e.descendants, d)
	return d
}

// Archive puts a copy of the load object recorded as path into the archives.
func (e *Experiment) Archive(path string, content []byte) {
	e.WriteFile(filepath.Join(archive.Dir, archive.Name(path)), content)
}

// ArchiveSymbols puts a symbol table into the archives in place of the load object recorded
// as path.
func (e *Experiment) ArchiveSymbols(path string, table []byte) {
	e.WriteFile(filepath.Join(archive.Dir, archive.SymbolTable(path)), table)
}

// WriteFile writes any file of the experiment as it is given.
func (e *Experiment) WriteFile(name string, content []byte) {
	path := filepath.Join(e.Dir, name)
	e.fail(os.MkdirAll(filepath.Dir(path), 0o755))
	e.fail(os.WriteFile(path, content, 0o644))
}

// Close writes everything that is not yet written. It returns the first error.
func (e *Experiment) Close() error {
	for _, w := range e.events {
		if w != nil {
			e.fail(w.blocks.close())
		}
	}
	if e.classes != nil {
		e.fail(e.classes.close())
	}
	if e.frames != nil {
		e.fail(e.frames.close())
	} else {
		e.WriteFile("data.frameinfo", nil)
	}
	e.WriteFile("log.xml", e.padded(e.logText()))
	e.WriteFile("map.xml", e.padded(e.maps.String()))
	for name, content := range map[string][]byte{"overview": e.overview, "dyntext": e.dyntext} {
		if content != nil {
			e.WriteFile(name, content)
		}
	}
	for _, d := range e.descendants {
		e.fail(d.Close())
	}
	return e.err
}

func (e *Experiment) fail(err error) {
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("gprofngtest: %w", err)
	}
}

func (e *Experiment) failf(format string, args ...any) {
	e.fail(fmt.Errorf(format, args...))
}

// padded fills a text with NULs as the collector's block buffers do.
func (e *Experiment) padded(text string) []byte {
	b := []byte(text)
	if e.Unpadded {
		return b
	}
	size := e.Form.BlockSize()
	return append(b, make([]byte, size-len(b)%size)...)
}

// order is the byte order that the architecture implies (gprofng-experiment 1.7).
func (e *Experiment) order() binary.AppendByteOrder {
	if strings.HasPrefix(e.Arch, "sparc") {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// appendWord appends an address or a word of a stack.
func (e *Experiment) appendWord(b []byte, w uint64) []byte {
	if e.WordBits == 32 {
		return e.order().AppendUint32(b, uint32(w))
	}
	return e.order().AppendUint64(b, w)
}
