package gprofng

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"stackmill/schema/diagnostic"
)

// Framing of binary files (gprofng-experiment 3.1).
const (
	packetHeader = 4
	packetAlign  = 4

	typeEmpty  = 0
	typeClosed = 0xffff
	// maxType is above all packet types that a collector may have written: numbers up to 19,
	// perhaps with the two flags of old formats. Higher types are garbage, not new types.
	maxType = 256
)

// packetType describes the packets of a type.
type packetType struct {
	described bool
	variable  bool // packets differ in size
	need      int  // the smallest possible size
	size      int  // the size of all packets, unless variable; 0 until one was read
	thread    field
	time      field
	// why returns what is wrong with a packet's content, "" if nothing is.
	why func(packet []byte) string
}

// reporter records a problem of one file.
type reporter func(severity diagnostic.Severity, offset int64, reason, message string, count int64)

// packetReader iterates over the packets of a file. After damage, it continues at the next
// plausible packet.
type packetReader struct {
	data    []byte
	order   byteOrder
	types   [maxType]packetType
	report  reporter
	release func() // releases the file's memory; may be nil
	blocks  blockLog

	pos     int
	end     int            // end offset of the current block
	last    int            // offset of the previous packet in the same block; -1: none
	usual   int            // size of the packets; 0 if unknown or variable
	gap     bool           // the packet does not directly follow the previous one
	unknown map[uint16]int // type -> number of packets whose type the log does not describe
	// truncated says that the file was cut.
	truncated bool
}

// newPacketReader returns a reader of a file whose blocks have the given layout.
func newPacketReader(data []byte, order byteOrder, layout blockLayout, report reporter) *packetReader {
	return &packetReader{data: data, order: order, report: report, last: -1, blocks: blockLog{blockLayout: layout}}
}

// next returns the next packet; ok is false at the end of the file.
func (r *packetReader) next() (offset, size int, typ uint16, ok bool) {
	r.gap = false
	for r.pos+packetHeader <= len(r.data) {
		o := r.pos
		if o >= r.end {
			if r.blocks.blank >= maxBlank {
				r.skipRest()
				break
			}
			r.enterBlock(o)
		}
		size, typ := r.header(o)
		if typ < maxType {
			t := &r.types[typ]
			if size == t.size && o+size <= r.end && t.size != 0 && (t.why == nil || t.why(r.data[o:o+size]) == "") {
				r.pos, r.last = o+size, o
				return o, size, typ, true
			}
		}
		if r.handleUnusual(o, size, typ) {
			r.last = o
			return o, size, typ, true
		}
		r.gap = true
	}
	r.tail()
	return 0, 0, 0, false
}

func (r *packetReader) header(o int) (size int, typ uint16) {
	w := r.data[o : o+packetHeader]
	return int(r.order.u16(w)), r.order.u16(w[2:])
}

// handleUnusual handles content that is not a packet of a known type and size, and moves past it.
// It returns true if the content is a packet after all.
func (r *packetReader) handleUnusual(o, size int, typ uint16) bool {
	switch {
	case size == 0:
		r.skipBlanks(o)
	case size%packetAlign != 0:
		r.damage(o, fmt.Sprintf("a packet's size is %d, not a multiple of %d", size, packetAlign))
	case typ == typeEmpty || typ == typeClosed:
		r.endMark(o, size, typ)
	case o+size > r.end:
		r.overrunsBlock(o, size, typ)
	case typ >= maxType:
		r.damage(o, fmt.Sprintf("packet type %d does not exist", typ))
	case !r.types[typ].described:
		if !r.follows(o + size) {
			r.damage(o, fmt.Sprintf("a packet of the unknown type %d ends where no packet begins", typ))
			break
		}
		if r.unknown == nil {
			r.unknown = map[uint16]int{}
		}
		r.unknown[typ]++
		r.pos = o + size
	default:
		return r.checkDescribed(o, size, typ)
	}
	return false
}

// checkDescribed checks a packet of a described type that has an unusual size or content.
func (r *packetReader) checkDescribed(o, size int, typ uint16) bool {
	t := &r.types[typ]
	if size < t.need {
		r.damage(o, fmt.Sprintf("a packet of type %d has %d bytes, its fields need %d", typ, size, t.need))
		return false
	}
	why := ""
	if t.why != nil {
		why = t.why(r.data[o : o+size])
	}
	switch {
	case why != "":
		if size == t.size && r.follows(o+size) {
			r.report(diagnostic.Error, int64(o), "bad-packet", why, 1)
			r.pos = o + size
		} else {
			r.damage(o, why)
		}
		return false
	case !t.variable && size != t.size && !r.fits(t, size) && !r.follows(o+size):
		r.damage(o, fmt.Sprintf("a packet of type %d has %d bytes and ends where no packet begins", typ, size))
		return false
	case !t.variable && t.size != 0 && size > t.size && r.plausible(o+t.size):
		r.damage(o, fmt.Sprintf("a packet of type %d has %d bytes and overlaps another, which begins after the usual %d bytes", typ, size, t.size))
		return false
	}
	if !t.variable && t.size == 0 {
		t.size, r.usual = size, size
	} else if !t.variable && size != t.size {
		r.report(diagnostic.Error, int64(o), "bad-packet", fmt.Sprintf("a packet of type %d has %d bytes, others have %d: packets inside it may be lost", typ, size, t.size), 1)
	}
	r.pos = o + size
	return true
}

// fits reports whether a packet of a fixed-size type may have this size: the size of earlier
// packets or, before the first one, at most the size of its fields padded to a multiple of 8.
func (r *packetReader) fits(t *packetType, size int) bool {
	if t.size != 0 {
		return size == t.size
	}
	return size <= (t.need+7)&^7
}

// plausible reports whether a packet of a described type seems to start at o. It does not check
// what follows the packet.
func (r *packetReader) plausible(o int) bool {
	if o+packetHeader > len(r.data) {
		return false
	}
	size, typ := r.header(o)
	if typ >= maxType || !r.types[typ].described || size%packetAlign != 0 || o+size > r.blockEnd(o) {
		return false
	}
	t := &r.types[typ]
	return size >= t.need && (t.variable || r.fits(t, size)) && (t.why == nil || t.why(r.data[o:o+size]) == "")
}

// maxEmpty is how many packets without content the method follows skips.
const maxEmpty = 8

// follows reports whether a packet may end at o: at the end of a block or the data, before
// padding, or before another packet.
func (r *packetReader) follows(o int) bool {
	for range maxEmpty {
		if o%r.blocks.size == 0 || o+packetHeader > len(r.data) || r.plausible(o) {
			return true
		}
		size, typ := r.header(o)
		switch {
		case size == 0:
			return true
		case size%packetAlign != 0 || o+size > len(r.data):
			return false
		case typ != typeEmpty && typ != typeClosed:
			return typ < maxType && !r.types[typ].described
		}
		o += size
	}
	return true
}

// overrunsBlock handles a packet that ends after its block. In the last block, this means that the
// file was cut.
func (r *packetReader) overrunsBlock(o, size int, typ uint16) {
	if r.end < len(r.data) || r.end%r.blocks.size == 0 {
		r.damage(o, fmt.Sprintf("a packet of type %d with %d bytes ends after its block", typ, size))
		return
	}
	r.truncated = true
	if typ < maxType && r.types[typ].described && (r.types[typ].variable || r.fits(&r.types[typ], size)) {
		r.damage(o, fmt.Sprintf("the file ends inside a packet of type %d with %d bytes", typ, size))
		return
	}
	r.damage(o, fmt.Sprintf("a packet of type %d with %d bytes ends after the end of the file", typ, size))
}

func (r *packetReader) tail() {
	if r.pos < len(r.data) && !allZero(r.data[r.pos:]) {
		r.truncated = true
		r.report(diagnostic.Error, int64(r.pos), "bad-packet", "the file ends inside a packet header", 1)
	}
	r.pos = len(r.data)
}

var zeros [blockSize]byte

func allZero(b []byte) bool {
	for len(b) > blockSize {
		if !bytes.Equal(b[:blockSize], zeros[:]) {
			return false
		}
		b = b[blockSize:]
	}
	return bytes.Equal(b, zeros[:len(b)])
}

// leadingZeros returns the number of leading zeros, which pad blocks.
func leadingZeros(b []byte) (n int) {
	const piece = 256
	for len(b)-n >= piece && bytes.Equal(b[n:n+piece], zeros[:piece]) {
		n += piece
	}
	return len(b) - len(bytes.TrimLeft(b[n:], "\x00"))
}

// reportUnknown reports packets that were skipped because the log does not describe their type. It
// is an error for the types in wanted, which the file should have.
func (r *packetReader) reportUnknown(wanted []uint16) {
	for _, typ := range slices.Sorted(maps.Keys(r.unknown)) {
		severity, reason := diagnostic.Warning, "undescribed-packets"
		if slices.Contains(wanted, typ) {
			severity, reason = diagnostic.Error, "no-layout"
		}
		r.report(severity, diagnostic.NoOffset, reason, fmt.Sprintf("packets of type %d are skipped: the log does not describe them", typ), int64(r.unknown[typ]))
	}
}

func (r *packetReader) damage(o int, why string) {
	r.resync(o, o+packetAlign, why)
}

// resync continues after damage at the first packet, at `from` or later, that is followed by
// another packet or padding.
func (r *packetReader) resync(damaged, from int, why string) {
	p := from
	for ; p+packetHeader <= len(r.data); p += packetAlign {
		if p%releaseStep == 0 && r.release != nil {
			r.release()
		}
		if r.plausible(p) {
			if size, _ := r.header(p); r.follows(p + size) {
				break
			}
		}
	}
	if p+packetHeader > len(r.data) {
		p = len(r.data)
	}
	r.pos = p
	lost := 1 // number of packets; a guess if packets differ in size
	if r.usual > 0 {
		lost = max(1, (p-damaged)/r.usual)
	}
	r.report(diagnostic.Error, int64(damaged), "bad-packet", fmt.Sprintf("%s; %d bytes are skipped", why, p-damaged), int64(lost))
}
