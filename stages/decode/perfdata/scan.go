package perfdata

import (
	"unicode/utf8"

	"stackmill/schema/diagnostic"
)

// leastWindow is how much of the files is in memory at a time at least, in bytes.
const leastWindow = 16 << 20

// touch counts bytes that are read. It is true whenever the window is full, where the files'
// pages are to be released.
func (r *reader) touch(n int, touched *int) bool {
	if *touched += n; *touched > r.window {
		*touched = 0
		return true
	}
	return false
}

// release releases the files' pages.
func (r *reader) release() {
	for _, f := range r.files {
		f.Release()
	}
}

// releaseBefore is release for all files but the rest of a piece, which is read next.
func (r *reader) releaseBefore(p *piece, at int) {
	for _, f := range r.files {
		if f != p.file {
			f.Release()
		}
	}
	p.file.ReleaseBefore(at)
}

// scan reads the records of a piece.
func (r *reader) scan(n, from int) {
	p, at := &r.pieces[n], from
	p.file.Each(from, func(end int) bool {
		at = r.records(n, at, min(end, len(p.data)))
		return at < len(p.data)
	})
}

// records reads the records of a piece that begin between two offsets, and returns where the
// next one does.
func (r *reader) records(n, at, end int) (next int) {
	p := &r.pieces[n]
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
		body, here := rest[recordHeader:size], place(n)<<pieceShift|place(at)
		switch {
		case typ == recordSample:
			p.inRound, r.anyExact = true, r.anyExact || misc&miscExact != 0
			r.sampleAt(here, body)
		case typ < recordTool:
			r.kernelRecord(p, here, typ, misc, body)
		default:
			r.mark(p, typ)
			if behind := r.toolRecord(typ, misc, body); behind > 0 {
				behind = r.payload(p, at, typ, size, behind)
				if typ == recordTracingData {
					r.tracepointNames(rest[size : size+behind])
				}
				size += behind
			}
		}
		at += size
		if r.touch(size, &r.touched) {
			r.releaseBefore(p, min(at, len(p.data)))
		}
	}
	return at
}

// badRecord reports a record whose size cannot be right, and returns where reading
// goes on.
func (r *reader) badRecord(p *piece, at int, typ uint32, size int) (next int) {
	rest := p.data[at:]
	next = r.resync(p, at)
	if next < len(p.data) || size <= len(rest) {
		r.problemIn(p.name, diagnostic.Error, int64(at), "bad-record", "a record of type %d has %d bytes: %d bytes are skipped, up to offset %d", typ, size, next-at, next)
		return next
	}
	if r.cut(p, at); typ == recordCompressed { // the first part of the stream can be read
		r.compressed = append(r.compressed, rest[recordHeader:])
	}
	return next
}

// mark notes what one of perf's own records says about the state of its buffers.
func (r *reader) mark(p *piece, typ uint32) {
	switch typ {
	case recordFinishedRound:
		p.inRound, p.marked = false, true
	case recordFinishedInit:
		r.begun = true
	case recordAuxtrace:
		p.inRound = true
	case recordCompressed, recordCompressed2:
		p.inRound, r.packed = true, true
	}
}

// holeStep is after how many bytes without a record a hole is looked for.
const holeStep = 4096

// plausibleRecords is how many records in a row show that reading can go on.
const plausibleRecords = 4

// leastText is how many bytes of text are told from a record's type.
const leastText = 4

// foreignText returns how many bytes of text there are where a record should begin, 0 if
// there is a record. A program whose output goes where perf's does prints between records,
// and perf itself behind them. No record's type consists of four letters.
func (r *reader) foreignText(b []byte) int {
	n := 0
	for n < len(b) && isPrinted(b[n]) {
		n++
	}
	switch {
	case n < leastText || !utf8.Valid(b[:n]):
		return 0
	case n < len(b) && !r.looksLikeRecords(b[n:], plausibleRecords):
		if n--; !r.looksLikeRecords(b[n:], plausibleRecords) { // the type of a sample, 9, is a tab
			return 0
		}
	}
	r.printed += int64(n)
	return n
}

// isText reports whether bytes, some at least, are text.
func isText(b []byte) bool {
	for _, c := range b {
		if !isPrinted(c) {
			return false
		}
	}
	return len(b) > 0
}

// isPrinted reports whether a byte is part of ASCII or UTF-8 text that programs print.
func isPrinted(c byte) bool {
	return c >= ' ' && c != 0x7f || c == '\t' || c == '\n' || c == '\r' || c == 0x1b
}

// resync finds where records continue after a bad one; the piece's end if they do
// not. Records begin at multiples of 8 bytes from each other, and none is in a hole.
func (r *reader) resync(p *piece, at int) int {
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

// looksLikeRecords reports whether data begins with so many records, or fewer up to its end.
func (r *reader) looksLikeRecords(data []byte, many int) bool {
	for n := 0; n < many; n++ {
		if len(data) == 0 {
			return n > 0
		}
		c := cursorOf(data, r.big)
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

// cut records that a piece ends inside a record.
func (r *reader) cut(p *piece, at int) {
	r.problemIn(p.name, diagnostic.Error, int64(at), "cut-record", "the file ends inside a record, %d bytes after its start", len(p.data)-at)
}
