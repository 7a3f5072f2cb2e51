package perfdata

import (
	"unicode/utf8"

	"stackmill/schema/diagnostic"
)

// leastWindow is the minimum of input.window, whatever the memory limit is.
const leastWindow = 16 << 20

// touch counts bytes that were read. It returns true when the window is full: the caller then
// releases the files' pages.
func (r *reader) touch(n int, touched *int) bool {
	if *touched += n; *touched > r.in.window {
		*touched = 0
		return true
	}
	return false
}

// release releases the pages of all files.
func (r *reader) release() {
	for _, f := range r.in.files {
		f.Release()
	}
}

// releaseBefore releases the pages of all files, except those of segment p at offset at and after
// it, which are read next.
func (r *reader) releaseBefore(p *recordRun, at int) {
	for _, f := range r.in.files {
		if f != p.file {
			f.Release()
		}
	}
	p.file.ReleaseBefore(at)
}

// scan reads the records of a segment.
func (r *reader) scan(n, from int) {
	p, at := &r.in.segments[n], from
	p.file.EachPart(from, func(end int) bool {
		at = r.records(n, at, min(end, len(p.data)))
		return at < len(p.data)
	})
}

// records reads the records that begin between two offsets of a segment, and returns the offset
// of the next.
func (r *reader) records(n, at, end int) (next int) {
	p := &r.in.segments[n]
	for at < end {
		rest := p.data[at:]
		if len(rest) < recordHeader && (len(rest) < leastText || !isText(rest)) {
			r.cut(p, at)
			return len(p.data)
		}
		c := cursorOf(rest, r.big)
		typ, misc, size := c.U32(), c.U16(), int(c.U16())
		if n := r.foreignText(rest); n > 0 {
			at += n
			continue
		}
		if typ >= recordSimpleperf || typ == recordCompressed2 {
			size = r.wholeSize(typ, misc, size, rest)
		}
		if size < recordHeader || size > len(rest) {
			at = r.badRecord(p, at, typ, size)
			continue
		}
		body, here := rest[recordHeader:size], recordOffset(n)<<segmentShift|recordOffset(at)
		switch {
		case typ == recordSample:
			p.inRound, r.found.anyExact = true, r.found.anyExact || misc&miscExact != 0
			r.sampleAt(here, body)
		case typ == recordStat, typ == recordStatRound:
			r.statAt(here, typ, body)
		case typ < recordTool:
			r.sideRecord(p, here, typ, misc, body)
		default:
			r.mark(p, typ)
			if behind := r.toolRecord(typ, misc, body); behind > 0 {
				behind = r.payload(p, at, typ, size, behind)
				if typ == recordTracingData {
					r.tracingData(rest[size : size+behind])
				}
				size += behind
			}
		}
		at += size
		if r.touch(size, &r.in.touched) {
			r.releaseBefore(p, min(at, len(p.data)))
		}
	}
	return at
}

// badRecord reports a record with an impossible size, and returns the offset where reading
// continues.
func (r *reader) badRecord(p *recordRun, at int, typ uint32, size int) (next int) {
	rest := p.data[at:]
	next = r.resync(p, at)
	if next < len(p.data) || size <= len(rest) {
		r.problemIn(p.name, diagnostic.Error, int64(at), "bad-record", "a record of type %d has %d bytes: %d bytes are skipped, up to offset %d", typ, size, next-at, next)
		return next
	}
	if r.cut(p, at); typ == recordCompressed { // keep the first part of the stream
		r.in.compressed = append(r.in.compressed, rest[recordHeader:])
	}
	return next
}

// mark updates the state of perf's buffers from a record.
func (r *reader) mark(p *recordRun, typ uint32) {
	switch typ {
	case recordFinishedRound:
		r.sched.finishedRound()
		p.inRound, p.hasRoundMark = false, true
	case recordFinishedInit:
		r.end.begun = true
	case recordAuxtrace:
		p.inRound = true
	case recordCompressed, recordCompressed2:
		p.inRound, r.end.packed = true, true
	}
}

// holeStep is the number of bytes that resync searches between two checks for holes.
const holeStep = 4096

// plausibleRecords is how many successive valid records resync requires.
const plausibleRecords = 4

// leastText is the shortest text that is recognized between records.
const leastText = 4

// foreignText returns the length of text where a record should begin, 0 if there is a record. If a
// program's output goes to the same place as perf's, the program prints between records, and perf
// itself after them. No record type consists of four letters.
func (r *reader) foreignText(b []byte) int {
	n := 0
	for n < len(b) && isPrinted(b[n]) {
		n++
	}
	switch {
	case n < leastText || !utf8.Valid(b[:n]):
		return 0
	case n < len(b) && !r.looksLikeRecords(b[n:], plausibleRecords):
		if n--; !r.looksLikeRecords(b[n:], plausibleRecords) { // a tab (9) may be the type of a sample, not text
			return 0
		}
	}
	r.stats.printed += int64(n)
	return n
}

// isText reports whether bytes are text; false if b is empty.
func isText(b []byte) bool {
	for _, c := range b {
		if !isPrinted(c) {
			return false
		}
	}
	return len(b) > 0
}

// isPrinted reports whether a byte is part of printable ASCII or UTF-8 text.
func isPrinted(c byte) bool {
	return c >= ' ' && c != 0x7f || c == '\t' || c == '\n' || c == '\r' || c == 0x1b
}

// resync returns the offset of the next plausible records after a bad one; the end of the segment
// if there are none. Records are aligned to 8 bytes, and holes contain none.
func (r *reader) resync(p *recordRun, at int) int {
	data := p.data
	for at += 8; at+recordHeader <= len(data); at += 8 {
		if at&(holeStep-1) < 8 {
			if at += (p.file.AfterHole(at) - at) &^ 7; at+recordHeader > len(data) {
				break
			}
		}
		if r.looksLikeRecords(data[at:], plausibleRecords) {
			return at
		}
	}
	return len(data)
}

// looksLikeRecords reports whether data begins with that many valid records, or consists of fewer
// valid records.
func (p *recordParser) looksLikeRecords(data []byte, many int) bool {
	for n := 0; n < many; n++ {
		if len(data) == 0 {
			return n > 0
		}
		c := cursorOf(data, p.big)
		typ, _, size := c.U32(), c.U16(), int(c.U16())
		known := typ != 0 && typ < 2*recordTool || typ >= recordSimpleperf && typ < recordSimpleperfEnd
		aligned := size%8 == 0 || typ == recordCompressed || typ == recordTracingData || typ == recordHeaderFeature
		if c.Short || !known || !aligned || size < recordHeader || size > len(data) {
			return false
		}
		data = data[size:]
	}
	return true
}

// cut reports a segment that ends inside a record.
func (r *reader) cut(p *recordRun, at int) {
	r.problemIn(p.name, diagnostic.Error, int64(at), "cut-record", "the file ends inside a record, %d bytes after its start", len(p.data)-at)
}
