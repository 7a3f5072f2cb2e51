package jitdump

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/mmap"
)

// Find returns the functions in the jitdump files that processes announced, with the times at which
// they existed (S13). Problems name the recorded path of a file.
func Find(ctx context.Context, rec *decode.Recording, files decode.Locator) (found []decode.GeneratedCode) {
	for _, p := range rec.Processes {
		if len(p.JITDumps) == 0 {
			continue
		}
		a := &dumpFinder{ctx: ctx, rec: rec, files: files, p: p, words: distinctWords(p)}
		for i := range p.JITDumps {
			if d := &p.JITDumps[i]; !d.Attached {
				d.Attached = a.find(*d)
			}
		}
		found = append(found, decode.GeneratedCode{Process: p, Ends: a.ends, Begins: a.begins})
	}
	return found
}

// dumpFinder reads the jitdump files of one process.
type dumpFinder struct {
	ctx          context.Context
	rec          *decode.Recording
	files        decode.Locator
	p            *decode.Process
	words        []uint64 // words of all stacks, sorted
	ends, begins []decode.MapEvent
}

func distinctWords(p *decode.Process) []uint64 {
	words := p.Stacks.Words()
	slices.Sort(words)
	return slices.Compact(words)
}

// problem reports an unusable part of a dump, as a Warning: only names are missing, no samples.
func (a *dumpFinder) problem(d decode.JITDump, offset int, reason, format string, args ...any) {
	a.rec.Problems.Add(diagnostic.Problem{Severity: diagnostic.Warning, Process: a.p.Number, File: d.Path, Offset: int64(offset), Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// unreadable reports a dump that cannot be read, or keeps a host error.
func (a *dumpFinder) unreadable(d decode.JITDump, err error) {
	if !a.rec.KeepHostError(err) {
		a.problem(d, diagnostic.NoOffset, "unreadable-jitdump", "%v", err)
	}
}

// find reads the first candidate file that is the process's dump. It returns false if there is
// none.
func (a *dumpFinder) find(d decode.JITDump) (used bool) {
	found := false
	for _, c := range a.files.ByPath(d.Path) {
		f, err := mmap.Open(a.ctx, c.Path, d.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		found = true
		if err != nil {
			a.unreadable(d, err)
			continue
		}
		err = f.Guard(func() { used = a.dump(d, f.Data) })
		if err = errors.Join(err, f.Unmap()); err != nil {
			a.unreadable(d, err)
		}
		if used {
			return true
		}
	}
	if !found {
		a.problem(d, diagnostic.NoOffset, "missing-jitdump",
			"the file in which a JIT compiler describes its functions was not found: keep it with the recording, and say where it is with --perf-map-dir or --symfs")
	}
	return false
}

// dump reads the content of a file. It returns false if this is not a dump of the process.
func (a *dumpFinder) dump(d decode.JITDump, b []byte) bool {
	h, err := readHeader(b)
	if err != nil {
		a.problem(d, 0, "bad-jitdump", "%v", err)
		return false
	}
	first, _, err := h.next(b, int(h.size))
	c, known := a.clock(d, &h, first.time)
	if err == nil && known && d.Mapped > 0 && c(first.time) < d.Mapped-slack {
		a.problem(d, int(h.size), "wrong-jitdump", "it was written before the process began: it belongs to another process and is not used")
		return false
	}
	if err == nil && !known {
		a.problem(d, 24, "jitdump-clock", "the compiler's clock is not the recording's: %s; use perf record -k mono", c.unknown(d, &h))
	}
	r := reader{dumpFinder: a, d: d, h: &h, clock: c, exactClock: known, lines: map[uint64][]byte{}, live: map[uint64]int{}}
	r.records(b)
	r.finish()
	return true
}

// dumpClock converts a dump's times to ns from the founder's start; nil if they cannot be
// converted.
type dumpClock func(t uint64) int64

// second, in ns, is the maximum difference between the times of the header and the first record.
// slack, in ns, is the tolerance in comparisons of times.
const (
	second = 1_000_000_000
	slack  = second / 10
)

// clock returns the dump's clock; known says that the recording can convert its times. Otherwise it
// estimates: it assumes that the file was mapped at the header's time. If that is far from the
// first record's time, it takes the first record's: V8 writes the time of another clock into the
// header.
func (a *dumpFinder) clock(d decode.JITDump, h *header, first uint64) (c dumpClock, known bool) {
	if _, ok := a.rec.Clock.Time(first, h.cycles); ok {
		return func(t uint64) int64 { ns, _ := a.rec.Clock.Time(t, h.cycles); return ns }, true
	}
	if h.cycles || d.Mapped == 0 {
		return nil, false
	}
	origin := first
	if h.time <= first && first-h.time < second {
		origin = h.time
	}
	return func(t uint64) int64 { return max(d.Mapped+int64(t-origin), 0) }, false
}

// unknown returns a message about the effect of an unknown clock.
func (c dumpClock) unknown(d decode.JITDump, h *header) string {
	if c == nil {
		return "each function is assumed to exist from the start, and of several functions at an address only the last is used"
	}
	return "times are estimated from when the file was mapped"
}
