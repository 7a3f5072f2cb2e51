package gprofng

import (
	"fmt"
	"maps"
	"slices"

	"stackmill/problem"
)

// Framing of binary files (gprofng-experiment 3.1).
const (
	packetHeader = 4
	blockSize    = 16384 // what the end of a block is a multiple of
	packetAlign  = 4

	typeEmpty  = 0
	typeClosed = 0xffff
	// maxType bounds the types that a collector may have written: 19 and the
	// two flags of old formats. What is above is garbage, not news.
	maxType = 256
)

// packetType says how to recognise packets of one type.
type packetType struct {
	described bool
	variable  bool // packets differ in size
	need      int  // the smallest size
	size      int  // the size of all packets, once one was seen
	// why returns what is wrong with a packet's content, "" if nothing is.
	why func(packet []byte) string
}

// reporter records a problem of one file.
type reporter func(severity problem.Severity, offset int64, reason, message string, count int64)

// packetReader walks over the packets of a file. Damage costs what it covers:
// behind it the reader goes on at the next place that looks like a packet.
type packetReader struct {
	data   []byte
	order  byteOrder
	types  [maxType]packetType
	report reporter

	pos     int
	usual   int            // the size of packets, if their type has one
	gap     bool           // the packet does not directly follow the one before
	unknown map[uint16]int // undescribed packets by type
}

// next returns the place of the next packet; false at the end of the file.
func (r *packetReader) next() (offset, size int, typ uint16, ok bool) {
	r.gap = false
	for r.pos+packetHeader <= len(r.data) {
		o := r.pos
		size, typ := r.header(o)
		if typ < maxType {
			t := &r.types[typ]
			if size == t.size && o+size <= len(r.data) && t.size != 0 && (t.why == nil || t.why(r.data[o:o+size]) == "") {
				r.pos = o + size
				return o, size, typ, true
			}
		}
		if r.unusual(o, size, typ) {
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

// unusual handles what is not a packet of a type and size seen before, and
// says whether it is one nevertheless. It always moves on.
func (r *packetReader) unusual(o, size int, typ uint16) bool {
	switch {
	case size == 0:
		r.endOfBlock(o)
	case size%packetAlign != 0:
		r.damage(o, fmt.Sprintf("a packet's size is %d, not a multiple of %d", size, packetAlign))
	case o+size > len(r.data):
		r.truncated(o, size, typ)
	case typ == typeEmpty || typ == typeClosed:
		if r.filler(o + size) {
			r.pos = o + size
		} else {
			r.damage(o, "padding ends in the middle of something")
		}
	case typ >= maxType:
		r.damage(o, fmt.Sprintf("packet type %d does not exist", typ))
	case !r.types[typ].described:
		if !r.follows(o + size) {
			r.damage(o, fmt.Sprintf("a packet of the unknown type %d ends in the middle of something", typ))
			break
		}
		if r.unknown == nil {
			r.unknown = map[uint16]int{}
		}
		r.unknown[typ]++
		r.pos = o + size
	default:
		return r.described(o, size, typ)
	}
	return false
}

// described judges a packet of a described type that has an unusual size or content.
func (r *packetReader) described(o, size int, typ uint16) bool {
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
			r.report(problem.Error, int64(o), "bad-packet", why, 1)
			r.pos = o + size
		} else {
			r.damage(o, why)
		}
		return false
	case !t.variable && size != t.size && !r.fits(t, size) && !r.follows(o+size):
		r.damage(o, fmt.Sprintf("a packet of type %d has %d bytes and ends in the middle of something", typ, size))
		return false
	}
	if !t.variable && t.size == 0 {
		t.size, r.usual = size, size
	}
	r.pos = o + size
	return true
}

// fits says whether a size is the expected one of a type of fixed size: its
// fields, with padding to the next multiple of 8.
func (r *packetReader) fits(t *packetType, size int) bool {
	if t.size != 0 {
		return size == t.size
	}
	return size <= (t.need+7)&^7
}

// plausible says whether a packet of a described type seems to start at o,
// judged by itself.
func (r *packetReader) plausible(o int) bool {
	if o+packetHeader > len(r.data) {
		return false
	}
	size, typ := r.header(o)
	if typ >= maxType || !r.types[typ].described || size%packetAlign != 0 || o+size > len(r.data) {
		return false
	}
	t := &r.types[typ]
	return size >= t.need && (t.variable || r.fits(t, size)) && (t.why == nil || t.why(r.data[o:o+size]) == "")
}

// follows says whether o is where a packet before it may end: at the end of
// the data, at padding, or at another packet.
func (r *packetReader) follows(o int) bool {
	if o+packetHeader > len(r.data) || r.plausible(o) {
		return true
	}
	size, typ := r.header(o)
	switch {
	case size == 0:
		return true
	case size%packetAlign != 0 || o+size > len(r.data):
		return false
	case typ == typeEmpty || typ == typeClosed:
		return r.filler(o + size)
	}
	return typ < maxType && !r.types[typ].described
}

// filler says whether padding may end at o: where a block ends, or a packet starts.
func (r *packetReader) filler(o int) bool {
	if o%blockSize == 0 || o+packetHeader > len(r.data) || r.plausible(o) {
		return true
	}
	size, _ := r.header(o)
	return size == 0
}

// endOfBlock skips the rest of a block, which has only NULs. When the NULs end
// anywhere but at the start of a block, they are damage.
func (r *packetReader) endOfBlock(o int) {
	p := o
	for p < len(r.data) && r.data[p] == 0 {
		p++
	}
	if p%blockSize == 0 || p == len(r.data) {
		r.pos = p
		return
	}
	start := max(p&^(packetAlign-1), o+packetAlign)
	if start%blockSize == 0 {
		// The first packet of a big-endian block, whose size starts with a 0.
		r.pos = start
		return
	}
	r.resync(o, start, "a packet's size is 0, but the block goes on")
}

// truncated handles a packet that ends behind the end of the file. Padding
// that was cut is no loss.
func (r *packetReader) truncated(o, size int, typ uint16) {
	if (typ == typeEmpty || typ == typeClosed) && allZero(r.data[o+packetHeader:]) {
		r.pos = len(r.data)
		return
	}
	if typ < maxType && r.types[typ].described && (r.types[typ].variable || r.fits(&r.types[typ], size)) {
		r.damage(o, fmt.Sprintf("the file ends inside a packet of type %d with %d bytes", typ, size))
		return
	}
	r.damage(o, fmt.Sprintf("a packet of type %d with %d bytes ends behind the end of the file", typ, size))
}

func (r *packetReader) tail() {
	if r.pos < len(r.data) && !allZero(r.data[r.pos:]) {
		r.report(problem.Error, int64(r.pos), "bad-packet", "the file ends inside a packet header", 1)
	}
	r.pos = len(r.data)
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// reportUnknown tells of the packets that were skipped because the log does
// not describe their type. Of types that the file should hold, they are lost.
func (r *packetReader) reportUnknown(wanted []uint16) {
	for _, typ := range slices.Sorted(maps.Keys(r.unknown)) {
		severity, reason := problem.Info, "undescribed-packets"
		if slices.Contains(wanted, typ) {
			severity, reason = problem.Error, "no-layout"
		}
		r.report(severity, problem.NoOffset, reason, fmt.Sprintf("packets of type %d are skipped: the log does not describe them", typ), int64(r.unknown[typ]))
	}
}

func (r *packetReader) damage(o int, why string) {
	r.resync(o, o+packetAlign, why)
}

// resync goes on at the first place from `from` on where a packet starts that
// is itself followed by a packet or by padding.
func (r *packetReader) resync(damaged, from int, why string) {
	p := from
	for ; p+packetHeader <= len(r.data); p += packetAlign {
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
	lost := 1 // of packets that differ in size, nobody knows
	if r.usual > 0 {
		lost = max(1, (p-damaged)/r.usual)
	}
	r.report(problem.Error, int64(damaged), "bad-packet", fmt.Sprintf("%s; %d bytes are skipped", why, p-damaged), int64(lost))
}
