package perfdata

import "stackmill/schema/diagnostic"

// wholeSize returns the size of a record that may exceed the 16 bits of its header.
func (p *recordParser) wholeSize(typ uint32, misc uint16, size int, rest []byte) int {
	if typ == recordCompressed2 {
		if whole := p.overflowed(size, rest); whole > 0 {
			return whole
		}
	} else if typ < recordSimpleperfEnd {
		return int(misc)<<16 | size
	}
	return size
}

// overflowed returns the size of a COMPRESSED2 record that does not fit its header, 0 for any
// other. Some releases of perf round a size up beyond 16 bits, and then write no padding
// (perf-data 5.3).
func (p *recordParser) overflowed(size int, rest []byte) int {
	c := cursorOf(rest[recordHeader:], p.big)
	data := c.U64()
	if c.Short || data > uint64(len(c.Rest)) {
		return 0
	}
	whole := recordHeader + compressed2DataStart + int(data)
	if rounded := (whole + 7) &^ 7; whole <= size || rounded < 1<<16 || rounded&(1<<16-1) != size {
		return 0
	}
	return whole
}

// compressed2 keeps the compressed bytes of a COMPRESSED2 record; false if it is damaged. A
// record that overflowed holds further records: it is split where their sizes say.
func (r *reader) compressed2(body []byte) bool {
	c := cursorOf(body, r.big)
	n := c.U64()
	if c.Short || n > uint64(len(c.Rest)) {
		return false
	}
	const most = 1<<16 - 1 - recordHeader - compressed2DataStart
	data := c.Rest[:n]
	first := min(len(data), most)
	r.in.compressed = append(r.in.compressed, data[:first])
	for data = data[first:]; len(data) > 0; {
		head := cursorOf(data, r.big)
		typ, _, size := head.U32(), head.U16(), int(head.U16())
		if typ != recordCompressed2 || size < recordHeader+compressed2DataStart || size > len(data) {
			return false
		}
		r.in.compressed = append(r.in.compressed, data[recordHeader+compressed2DataStart:size])
		data = data[size:]
	}
	return true
}

// payload returns how many bytes after a record belong to it: what it says, if another record
// follows there. Otherwise the record is wrong.
func (r *reader) payload(p *recordRun, at int, typ uint32, size, says int) int {
	rest := p.data[at+size:]
	fits := says <= len(rest)
	if fits && (says == len(rest) || r.looksLikeRecords(rest[says:], 1)) {
		return says
	}
	skipped := 0
	if len(rest) > 0 && !r.looksLikeRecords(rest, plausibleRecords) {
		skipped = r.resync(p, at+size) - at - size
	}
	if !fits && skipped == len(rest) {
		r.cut(p, at)
		return skipped
	}
	r.problemIn(p.name, diagnostic.Error, int64(at), "bad-record",
		"a record of type %d says that %d bytes follow it, up to offset %d, where there is no record: reading goes on at offset %d",
		typ, says, uint64(at+size)+uint64(says), at+size+skipped)
	return skipped
}
