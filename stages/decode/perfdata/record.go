package perfdata

import (
	"bytes"
	"strings"

	"stackmill/internal/bytereader"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/mmap"
)

// recordHeader is the size of a record's header.
const recordHeader = 8

// The types of records that the code refers to (perf-data 5); recordKinds lists all types.
const (
	recordMmap          = 1
	recordLost          = 2
	recordComm          = 3
	recordExit          = 4
	recordThrottle      = 5
	recordFork          = 7
	recordSample        = 9
	recordMmap2         = 10
	recordLostSamples   = 13
	recordSwitch        = 14
	recordSwitchCPUWide = 15
	recordKsymbol       = 17
	recordCGroup        = 19
	recordDeferred      = 22

	recordTool          = 64 // the first type of perf's own records
	recordHeaderAttr    = 64
	recordEventType     = 65
	recordTracingData   = 66
	recordBuildID       = 67
	recordFinishedRound = 68
	recordIDIndex       = 69
	recordAuxtraceInfo  = 70
	recordAuxtrace      = 71
	recordAuxtraceError = 72
	recordEventUpdate   = 78
	recordTimeConv      = 79
	recordHeaderFeature = 80
	recordCompressed    = 81
	recordCompressed2   = 83
	recordFinishedInit  = 82
	recordBPFMetadata   = 84

	recordSchedstatCPU    = 85
	recordSchedstatDomain = 86
	recordToolKnown       = 86

	// The types of records of Android's simpleperf. Their misc field has the upper half of the size
	// (perf-data 5.4).
	recordSimpleperf    = 32768
	recordEventIDs      = recordSimpleperf + 6
	recordSimpleperfEnd = recordSimpleperf + 64

	recordKernelKnown    = 22
	updateUnit           = 0
	updateScale          = 1
	updateName           = 2
	compressed2DataStart = 8
)

// The bits of a record's misc field.
const (
	miscMode    = 7
	miscUnknown = 0
	miscKernel  = 1
	miscUser    = 2
	miscData    = 1 << 13 // in MMAP: the mapping is not executable
	miscExec    = 1 << 13 // in COMM: the name is due to an exec; in FORK: synthesized when the recording began
	miscBuildID = 1 << 14 // in MMAP2: the record has a build-id
	miscExact   = 1 << 14 // in SAMPLE: the address is that of the exact instruction
)

// recordRun is a sequence of records, in a file or decompressed.
type recordRun struct {
	name string
	file *mmap.File
	data []byte // content of the file up to the end of the records
	// inRound says that records of running programs follow the last FINISHED_ROUND, which perf
	// writes whenever it has emptied its buffers.
	inRound      bool
	hasRoundMark bool // the run has a FINISHED_ROUND
}

// segmentShift is the position of the segment number in a recordOffset.
const segmentShift = 48

// recordOffset is the location of a record: the number of its segment (upper bits) and its offset
// in the segment.
type recordOffset uint64

// offset returns the offset in the segment.
func (p recordOffset) offset() int64 { return int64(p & (1<<segmentShift - 1)) }

// cursor reads numbers and strings from a part of a recording.
type cursor struct {
	bytereader.Reader
	torn bool // after a string's NUL there is more text
}

func cursorOf(b []byte, big bool) cursor {
	return cursor{Reader: bytereader.Reader{Rest: b, Big: big}}
}

func (c *cursor) s32() int32 { return int32(c.U32()) }

// string reads a string of a feature: its length, and that many bytes, padded with NULs.
func (c *cursor) string() string {
	b := c.Bytes(uint64(c.U32()))
	s, padding, _ := bytes.Cut(b, []byte{0})
	c.torn = c.torn || len(bytes.Trim(padding, "\x00")) > 0
	return text(s)
}

// fileName returns the bytes before the first NUL. File names need not be UTF-8.
func fileName(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// text returns the bytes before the first NUL as valid UTF-8.
func text(b []byte) string { return strings.ToValidUTF8(fileName(b), "\uFFFD") }

// wholeSize returns the size of a record, which may exceed the 16 bits in its header.
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

// overflowed returns the size of a COMPRESSED2 record if the size does not fit into the record's
// header, otherwise 0. Some releases of perf round a size up beyond 16 bits, and then write no
// padding (perf-data 5.3).
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

// compressed2 keeps the compressed bytes of a COMPRESSED2 record; false if it is damaged. An
// overflowed record contains further COMPRESSED2 records: it is split by their sizes.
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

// payload returns how many bytes after a record belong to it. This is the stated number if another
// record follows there; otherwise the record is reported as wrong.
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
		"a record of type %d says that %d bytes follow it, up to offset %d, where there is no record: reading continues at offset %d",
		typ, says, uint64(at+size)+uint64(says), at+size+skipped)
	return skipped
}
