package gprofng

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The parts of a FRAME packet (gprofng-experiment 4.1).
const (
	frameHeader = 16 // size, type, hsize, uid
	infoHeader  = 8  // info_size, kind
	uidHeader   = 16 // size of the header of an info with a uid, and of a UID packet
	omp2Header  = 24

	infoStack = 1
	infoJava  = 2
	infoOMP   = 3
	infoMPI   = 4
	infoOMP2  = 5

	flagCompressed = 1 << 31
	linkSize       = 8

	// maxInfos is the maximum number of infos in a packet; a packet has at most one of each kind.
	maxInfos = 16
)

// fragment is a part of a stack: its words, and a link to the next part.
type fragment struct {
	words []byte // slice of the mapped file
	link  uint64
}

// frame is a FRAME packet. native, java and omp are the uids of the first fragments of its stacks.
type frame struct {
	uid                         uint64
	native, java, omp           uint64
	hasNative, hasJava, hasOMP2 bool
	state                       int // OpenMP state, -1 for none
}

// frameFile is data.frameinfo, parsed but not resolved.
type frameFile struct {
	order     byteOrder
	wordBytes int
	frames    []frame
	fragments map[uint64]fragment
	release   func() // releases the file's memory
	writers   int    // number of blocks that are not full; each has a different writer
	states    int64  // number of MPI states, which are not used
}

// readFrames parses data.frameinfo (gprofng-experiment 4.1 and 4.2).
func readFrames(data []byte, order byteOrder, wordBytes int, layout blockLayout, release func(), report reporter) *frameFile {
	f := &frameFile{order: order, wordBytes: wordBytes, fragments: map[uint64]fragment{}, release: release}
	r := newPacketReader(data, order, blockLayout{size: layout.size}, report)
	r.release, r.blocks.shared = release, true
	r.types[typeFrame] = packetType{described: true, variable: true, need: frameHeader, why: f.brokenFrame}
	r.types[typeUID] = packetType{described: true, variable: true, need: uidHeader, why: f.brokenUID}
	for released := 0; ; {
		offset, size, typ, ok := r.next()
		if !ok {
			r.reportUnknown(nil)
			r.finish(0)
			f.writers = r.blocks.open
			return f
		}
		if offset-released >= releaseStep {
			release()
			released = offset
		}
		if packet := data[offset : offset+size]; typ == typeFrame {
			f.frame(packet)
		} else {
			flags := order.u32(packet[4:])
			f.define(order.u64(packet[8:]), packet[uidHeader:], flags&flagCompressed != 0)
		}
	}
}

// info is a part of a FRAME packet.
type info struct {
	kind       uint32
	compressed bool
	data       []byte // header included
}

// nextInfo returns the first info of b and the bytes after it. Zeros end the list. It returns an
// error if the info does not fit into b.
func (f *frameFile) nextInfo(b []byte) (i info, rest []byte, err error) {
	if len(b) < infoHeader {
		return info{}, nil, nil
	}
	size, kind := f.order.u32(b), f.order.u32(b[4:])
	i.kind, i.compressed = kind&^flagCompressed, kind&flagCompressed != 0
	need := infoHeader
	switch {
	case size == 0 && allZero(b):
		return info{}, nil, nil
	case size == 0:
		return info{}, nil, errors.New("an info has 0 bytes, but is not the last: bytes other than 0 follow")
	case i.kind == infoStack || i.kind == infoJava:
		need = uidHeader
	case i.kind == infoOMP2:
		need = omp2Header
	case i.kind == infoOMP || i.kind == infoMPI:
		need = infoHeader + 4
	default:
		return info{}, nil, fmt.Errorf("info kind %d does not exist", i.kind)
	}
	if size < uint32(need) || uint64(size) > uint64(len(b)) {
		return info{}, nil, fmt.Errorf("an info of kind %d has %d bytes", i.kind, size)
	}
	i.data = b[:size]
	return i, b[size:], nil
}

// brokenFrame returns what is wrong with the structure of a FRAME packet.
func (f *frameFile) brokenFrame(packet []byte) string {
	h := f.order.u32(packet[4:])
	if h < frameHeader || uint64(h) > uint64(len(packet)) {
		return fmt.Sprintf("a FRAME packet of %d bytes has a header of %d bytes", len(packet), h)
	}
	rest := packet[h:]
	for range maxInfos {
		if len(rest) == 0 {
			return ""
		}
		var err error
		if _, rest, err = f.nextInfo(rest); err != nil {
			return "in a FRAME packet " + err.Error()
		}
	}
	return fmt.Sprintf("a FRAME packet has more than %d infos", maxInfos)
}

// brokenUID returns what is wrong with a UID packet.
func (f *frameFile) brokenUID(packet []byte) string {
	flags := f.order.u32(packet[4:])
	switch {
	case flags&^flagCompressed != 0:
		return fmt.Sprintf("a UID packet has the flags %#x", flags)
	case flags != 0 && len(packet) < uidHeader+linkSize:
		return "a UID packet has no room for its link"
	}
	return ""
}

func (f *frameFile) frame(packet []byte) {
	fr := frame{uid: f.order.u64(packet[8:]), state: -1}
	rest := packet[f.order.u32(packet[4:]):]
	for len(rest) > 0 {
		var i info
		i, rest, _ = f.nextInfo(rest) // the packet was checked
		if i.data == nil {
			break
		}
		switch i.kind {
		case infoStack:
			fr.hasNative, fr.native = true, f.head(i, uidHeader)
		case infoJava:
			fr.hasJava, fr.java = true, f.head(i, uidHeader)
		case infoMPI:
			f.states++
		case infoOMP:
			fr.state = int(int32(f.order.u32(i.data[8:])))
		case infoOMP2:
			fr.state = int(int32(f.order.u32(i.data[8:])))
			fr.hasOMP2, fr.omp = true, f.head(i, omp2Header)
		}
	}
	f.frames = append(f.frames, fr)
}

// head returns the uid of the first fragment of an info's stack. The uid is at the end of the
// info's header. If words follow the header, they define the fragment; otherwise the fragment is
// defined elsewhere.
func (f *frameFile) head(i info, header int) uint64 {
	uid := f.order.u64(i.data[header-8:])
	if words := i.data[header:]; len(words) > 0 {
		f.define(uid, words, i.compressed)
	}
	return uid
}

// define adds a fragment unless its uid is already defined. The link after compressed words is
// little-endian in every recording.
func (f *frameFile) define(uid uint64, words []byte, compressed bool) {
	if _, ok := f.fragments[uid]; ok {
		return
	}
	fr := fragment{words: words}
	if n := len(words) - linkSize; compressed && n >= 0 {
		fr.words, fr.link = words[:n], binary.LittleEndian.Uint64(words[n:])
	}
	f.fragments[uid] = fr
}
