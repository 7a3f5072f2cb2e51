package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"stackmill/schema/diagnostic"
)

// The magic numbers: little-endian, big-endian, and of recordings before Linux 3.0, whose magic
// number is the same in both byte orders.
var (
	magicLittle = []byte("PERFILE2")
	magicBig    = []byte("2ELIFREP")
	magicOld    = []byte("PERFFILE")
)

// beginsRecording reports whether a file that begins with b is a recording.
func beginsRecording(b []byte) bool {
	return bytes.HasPrefix(b, magicLittle) || bytes.HasPrefix(b, magicBig) || bytes.HasPrefix(b, magicOld)
}

const (
	headerSize     = 104
	pipeHeaderSize = 16
)

// errNotPerf says that a file does not begin like a recording.
var errNotPerf = errors.New("the file does not begin with PERFILE2")

// section is a part of a file.
type section struct{ offset, size uint64 }

// header is the head of a recording (perf-data 1).
type header struct {
	big      bool
	pipe     bool
	attrSize uint64
	attrs    section
	data     section
	names    section // the names of events, in old recordings
	features []int   // numbers of the features, ascending
}

// readHeader reads the head of a file.
func readHeader(b []byte) (h header, err error) {
	if !beginsRecording(b) {
		return h, errNotPerf
	}
	h.big = bytes.HasPrefix(b, magicBig)
	if bytes.HasPrefix(b, magicOld) && len(b) >= pipeHeaderSize { // the size is small only in the right byte order
		h.big = binary.LittleEndian.Uint64(b[8:]) > binary.BigEndian.Uint64(b[8:])
	}
	c := cursorOf(b[8:], h.big)
	size := c.U64()
	if size == pipeHeaderSize {
		h.pipe = true
		h.data = section{pipeHeaderSize, uint64(len(b)) - pipeHeaderSize}
		return h, nil
	}
	if size < headerSize-32 || size > uint64(len(b)) {
		return h, fmt.Errorf("its header has the impossible size of %d bytes", size)
	}
	h.attrSize = c.U64()
	h.attrs = section{c.U64(), c.U64()}
	h.data = section{c.U64(), c.U64()}
	h.names = section{c.U64(), c.U64()}
	if size >= headerSize {
		h.features = featureBits(c.Bytes(32), h.big)
	}
	return h, nil
}

// featureHostname is a feature that every recording has.
const featureHostname = 3

// featureBits lists the set bits. A big-endian recording may consist of 64-bit words or, from a
// 32-bit perf, of 32-bit words; the feature that every recording has shows which.
func featureBits(b []byte, big bool) []int {
	order := binary.ByteOrder(binary.LittleEndian)
	if big {
		order = binary.BigEndian
	}
	var wide, narrow []int
	for i := range 8 * len(b) {
		if order.Uint64(b[i/64*8:])>>(i%64)&1 != 0 {
			wide = append(wide, i)
		}
		if order.Uint32(b[i/32*4:])>>(i%32)&1 != 0 {
			narrow = append(narrow, i)
		}
	}
	if big && !slices.Contains(wide, featureHostname) && slices.Contains(narrow, featureHostname) {
		return narrow
	}
	return wide
}

// within returns the part of a section that lies in a file of that size, and whether that is the
// whole section.
func (s section) within(size int) (section, bool) {
	if s.offset > uint64(size) {
		return section{uint64(size), 0}, false
	}
	if left := uint64(size) - s.offset; s.size > left {
		return section{s.offset, left}, false
	}
	return s, true
}

// readAttrs reads the events of a file (perf-data 1.2).
func (r *reader) readAttrs(b []byte, h *header) {
	at, whole := h.attrs.within(len(b))
	if h.attrSize < minAttr+16 || !whole {
		r.problem(diagnostic.Error, 24, "bad-attributes", "the list of events (%d bytes at offset %d, %d for each) is damaged, or the file was cut", h.attrs.size, h.attrs.offset, h.attrSize)
		if h.attrSize < minAttr+16 {
			return
		}
	}
	if at.size < h.attrSize {
		r.problem(diagnostic.Error, 24, "bad-attributes", "the recording describes no events: its samples cannot be read")
	}
	left := maxIDs
	for ; at.size >= h.attrSize; at.offset, at.size = at.offset+h.attrSize, at.size-h.attrSize {
		entry := b[at.offset : at.offset+h.attrSize]
		a, _, err := readAttr(entry[:h.attrSize-16], h.big)
		if err != nil {
			r.problem(diagnostic.Error, int64(at.offset), "bad-attributes", "%v", err)
			return
		}
		c := cursorOf(entry[h.attrSize-16:], h.big)
		ids, whole := section{c.U64(), c.U64()}.within(len(b))
		if !whole {
			r.problem(diagnostic.Error, int64(at.offset), "bad-attributes", "the ids of an event lie outside the file")
		}
		// Lists of ids may not overlap, so the file's size bounds them.
		if left = min(left, len(b)/8); int(ids.size/8) > left {
			r.problem(diagnostic.Error, int64(at.offset), "bad-attributes", "the events have more ids than the file has room for, or than perf can have: the rest are not read")
			return
		}
		left -= int(ids.size / 8)
		r.addEvent(a, words(b[ids.offset:ids.offset+ids.size], h.big))
	}
}

// words reads all 64-bit numbers of b.
func words(b []byte, big bool) []uint64 {
	c := cursorOf(b, big)
	list := make([]uint64, 0, len(b)/8)
	for len(c.Rest) >= 8 {
		list = append(list, c.U64())
	}
	return list
}

// The maximum numbers of ids and events. An id is a file that perf had open; Linux has a few
// thousand tracepoints.
const (
	maxIDs    = 1 << 21
	maxEvents = 1 << 12
)

func (r *reader) addEvent(a attr, ids []uint64) {
	if len(r.events) == maxEvents {
		r.problem(diagnostic.Error, diagnostic.NoOffset, "too-many-events", "the recording has more than %d events: samples of the others are not read", maxEvents)
		return
	}
	e := &event{attr: a, ids: len(ids), name: a.defaultName(r.big)}
	for _, id := range ids {
		r.meta.eventIDs = append(r.meta.eventIDs, id)
		if _, twice := r.byID[id]; twice {
			r.problem(diagnostic.Error, diagnostic.NoOffset, "bad-attributes", "two events have the id %d: samples of one may be counted as the other's", id)
		}
		r.byID[id] = int32(len(r.events))
	}
	if a.sampleType >= 2*sampleWeightStruct || a.readFormat >= 2*readLost || a.branchType >= 2*branchCounters {
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "unknown-fields",
			"samples of the event %s have unknown fields (sample_type %#x, read_format %#x, branch_sample_type %#x): the fields after them may be misread",
			e.name, a.sampleType, a.readFormat, a.branchType)
	}
	r.events = append(r.events, e)
}
