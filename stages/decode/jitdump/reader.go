package jitdump

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// reader turns the records of a dump into mappings.
type reader struct {
	*dumpFinder
	d          decode.JITDump
	h          *header
	clock      dumpClock
	exactClock bool // clock is not an estimate

	lines          map[uint64][]byte // address of the next code -> body of its DEBUG_INFO record
	unwinding      []byte            // call frame information of the next code, nil if unknown
	live           map[uint64]int    // address -> index in functions of the code that is there now
	functions      []codeLife
	badLines       int64 // number of lists of lines that are cut or have bad file names
	unknownRecords int64 // number of records of unknown types
}

// codeLife is a compiled function with its lifetime: from its compilation until its code is replaced
// or unloaded.
type codeLife struct {
	decode.MapEvent
	until int64
}

func (r *reader) records(b []byte) {
	for at := int(r.h.size); at < len(b); {
		rec, end, err := r.h.next(b, at)
		switch {
		case errors.Is(err, errCut):
			r.problem(r.d, at, "cut-jitdump", "the file ends inside a record, %d bytes after its start: the process was killed, or the file was not copied whole", len(b)-at)
			return
		case err != nil:
			r.problem(r.d, at, "bad-jitdump", "record of type %d: %v; the %d bytes from here on are not used", rec.kind, err, len(b)-at)
			return
		}
		if err := r.record(&rec); err != nil {
			r.problem(r.d, at, "bad-jitdump", "record of type %d: %v; it is not used", rec.kind, err)
		}
		at = end
	}
	if r.unknownRecords > 0 {
		r.rec.Problems.Add(diagnostic.Problem{Severity: diagnostic.Warning, Process: r.p.Number, File: r.d.Path, Offset: diagnostic.NoOffset,
			Reason: "unknown-record", Message: "records of unknown types are skipped: names may be missing", Count: r.unknownRecords})
	}
}

func (r *reader) record(rec *record) error {
	switch rec.kind {
	case recordLoad:
		f, err := r.h.load(rec.body)
		if err != nil {
			return err
		}
		r.load(&f, rec.time)
	case recordMove:
		f, err := r.h.move(rec.body)
		if err != nil {
			return err
		}
		return r.move(&f, rec.time)
	case recordDebug:
		if len(rec.body) < 8 {
			return errShort
		}
		r.lines[r.h.order.Uint64(rec.body)] = rec.body
	case recordUnwinding:
		var err error
		r.unwinding, err = r.h.unwinding(rec.body)
		return err
	case recordClose:
	default:
		r.unknownRecords++
	}
	return nil
}

// start returns the time from which the process has a function. It returns false if the process
// never has the function, for example because the parent compiled it after the fork.
func (r *reader) start(f *function, time uint64) (int64, bool) {
	own := f.pid == r.h.pid
	if r.clock == nil {
		return r.d.From, own || int64(f.pid) == r.p.PID
	}
	t := r.clock(time)
	if r.d.From > r.d.Mapped { // inherited
		own = own && t <= r.d.From || int64(f.pid) == r.p.PID
	}
	return max(t, r.d.From), own && t < r.d.Until
}

func (r *reader) load(f *function, time uint64) {
	debug := r.lines[f.start]
	delete(r.lines, f.start)
	unwinding := r.unwinding
	r.unwinding = nil
	t, ok := r.start(f, time)
	if !ok {
		return
	}
	code := &decode.Code{Function: strings.ToValidUTF8(string(f.name), "\uFFFD")}
	if code.Function == "" {
		code.Function = fmt.Sprintf("jit-%d", f.index)
	}
	if r.touched(f.start, f.size) {
		code.Bytes = bytes.Clone(f.code)
		r.addLines(code, f, debug)
	}
	if r.p.Dumps != nil {
		code.Unwinding = bytes.Clone(unwinding)
	}
	r.add(f, t, code)
}

// touched reports whether a stack may contain an address of the code. The bytes and lines of other
// code are not kept.
func (r *reader) touched(start, size uint64) bool {
	return r.p.Dumps != nil || decode.Touches(r.words, start, size) // unwinding the dumps will add stacks
}

func (r *reader) addLines(c *decode.Code, f *function, debug []byte) {
	if debug == nil {
		return
	}
	address, list, err := r.h.lines(debug)
	if err != nil {
		r.badLines++
	}
	shift := r.h.lineShift(address, list)
	for _, l := range list {
		at := l.address - shift - f.start
		if at >= f.size || at > math.MaxUint32 || l.number > math.MaxInt32 {
			continue
		}
		c.Lines = append(c.Lines, decode.CodeLine{Offset: uint32(at), Line: int32(l.number), File: string(l.file)})
	}
	slices.SortStableFunc(c.Lines, func(a, b decode.CodeLine) int { return cmp.Compare(a.Offset, b.Offset) })
	if len(c.Lines) > 0 {
		c.File = c.Lines[0].File
	}
}

// move moves a compiled function to another address.
func (r *reader) move(f *function, time uint64) error {
	t, ok := r.start(f, time)
	if !ok {
		return nil
	}
	n, known := r.live[f.from]
	if !known {
		return fmt.Errorf("it moves a function from %#x, where none is", f.from)
	}
	old := &r.functions[n]
	if f.size < old.Size {
		return fmt.Errorf("it moves %d bytes of a function that has %d", f.size, old.Size)
	}
	if r.clock != nil {
		old.until = min(old.until, t)
	}
	delete(r.live, f.from)
	r.add(f, t, old.Code)
	return nil
}

func (r *reader) add(f *function, t int64, c *decode.Code) {
	if n, ok := r.live[f.start]; ok && r.clock != nil {
		r.functions[n].until = min(r.functions[n].until, t)
	}
	r.live[f.start] = len(r.functions)
	r.functions = append(r.functions, codeLife{decode.MapEvent{
		Time: t, Address: f.start, Size: f.size, Modes: 5, Path: decode.GeneratedPath, Code: c,
	}, r.d.Until})
}

// finish adds the functions to the process. A function ends when a file is mapped over it.
func (r *reader) finish() {
	if r.badLines > 0 {
		r.rec.Problems.Add(diagnostic.Problem{Severity: diagnostic.Warning, Process: r.p.Number, File: r.d.Path, Offset: diagnostic.NoOffset,
			Reason: "jitdump-lines", Message: "functions' lists of lines are cut, or have names that are not text", Count: r.badLines})
	}
	low, high := uint64(math.MaxUint64), uint64(0)
	for _, f := range r.functions {
		low, high = min(low, f.Address), max(high, f.Address+f.Size)
	}
	var files []decode.MapEvent // few: memory for code is rarely reused for files
	for _, m := range r.p.Mappings {
		if !m.Unmap && m.Code == nil && m.Time > r.d.From && !decode.IsPerfMap(m.Path) && m.Address < high && low < m.Address+m.Size {
			files = append(files, m)
		}
	}
	for _, f := range r.functions {
		for _, m := range files {
			if m.Time > f.Time && m.Time < f.until && m.Address < f.Address+f.Size && f.Address < m.Address+m.Size {
				f.until = m.Time
			}
		}
		if f.until <= f.Time {
			continue
		}
		r.dumpFinder.begins = append(r.dumpFinder.begins, f.MapEvent)
		if f.until != decode.Never {
			r.ends = append(r.ends, decode.MapEvent{Unmap: true, Time: f.until, Address: f.Address})
		}
	}
}
