package gprofng

import (
	"bytes"
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// The packets of jclasses (gprofng-experiment 3.7).
const (
	classPacket    = 10<<8 | 3
	methodPacket   = 11<<8 | 3
	locationPacket = 14<<8 | 3

	classStrings = 8 + 16 // offset of the strings: after class id and time, or class id and method id
)

// classReader reads the names of Java methods.
type classReader struct {
	e           *experiment
	data        []byte
	methods     map[uint64]decode.JavaMethod
	class, file string
	blank       int  // number of blocks of NULs
	full        bool // the last block is full: another must follow
}

// readClasses reads jclasses; release releases the file's memory.
func (e *experiment) readClasses(data []byte, release func()) map[uint64]decode.JavaMethod {
	r := &classReader{e: e, data: data, methods: map[uint64]decode.JavaMethod{}}
	o, released, size := 0, 0, e.blocks().size
	for o >= 0 && o < len(data) {
		if r.blank >= maxBlank {
			r.bad(o, "the file has %d blocks of NULs up to here: the rest is not read", r.blank)
			return r.methods
		}
		if o = r.packet(o); o-released >= releaseStep {
			release()
			released = o
		}
	}
	switch {
	case o < 0:
	case len(data)%size != 0:
		e.report(diagnostic.Error, classesFile, int64(len(data)), "truncated", "the file has %d bytes, not a multiple of the block size %d: it was cut", len(data), size)
	case r.full:
		e.report(diagnostic.Error, classesFile, int64(len(data)), "truncated", "the last block is full: the file was cut")
	}
	return r.methods
}

// packet reads the packet at o and returns the offset of the next packet, -1 if unknown. Packets
// lie in consecutive blocks, as in event files.
func (r *classReader) packet(o int) int {
	size := r.e.blocks().size
	end := min(o-o%size+size, len(r.data))
	rest := r.data[o:end]
	if len(rest) < packetHeader || r.e.order.u16(rest) == 0 {
		if r.blank++; o%size != 0 || !allZero(rest) {
			r.bad(o, "%d bytes at the end of a block are not a packet", len(rest))
		}
		return end
	}
	size, typ := int(r.e.order.u16(rest)), r.e.order.u16(rest[2:])
	if size < packetHeader || size > len(rest) {
		r.bad(o, "a packet of type %#x has %d bytes, %d are left", typ, size, len(rest))
		return -1
	}
	r.full = typ == typeClosed
	if typ != typeEmpty && typ != typeClosed {
		r.names(o, typ, rest[:size])
	}
	return o + size
}

// names reads the names in a packet.
func (r *classReader) names(o int, typ uint16, packet []byte) {
	switch {
	case typ == locationPacket:
		r.e.opener.unused.add(unusedRecord, classesFile, "where a class was loaded from", 1)
	case typ != classPacket && typ != methodPacket:
		r.e.report(diagnostic.Warning, classesFile, int64(o), "undescribed-packets", "packets of type %#x are unknown; this one is ignored", typ)
	case len(packet) < classStrings:
		r.bad(o, "a packet of type %#x has %d bytes, its fields need %d", typ, len(packet), classStrings)
	case typ == classPacket:
		name, rest := cutString(packet[classStrings:])
		source, _ := cutString(rest)
		r.class, r.file = className(text(name)), text(source)
	case r.class != "":
		name, rest := cutString(packet[classStrings:])
		signature, _ := cutString(rest)
		r.methods[r.e.order.u64(packet[16:])] = decode.JavaMethod{Class: r.class, Name: text(name), Signature: text(signature), File: r.file}
	}
}

func (r *classReader) bad(o int, format string, args ...any) {
	r.e.report(diagnostic.Error, classesFile, int64(o), "bad-packet", format, args...)
}

// cutString cuts off a NUL-terminated string that is padded to 4 bytes.
func cutString(b []byte) (s, rest []byte) {
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return b, nil
	}
	return b[:n], b[min(len(b), (n+4)&^3):]
}

// className converts `Lpkg/Name;` to `pkg.Name`; other names give "".
func className(s string) string {
	name, ok := strings.CutPrefix(s, "L")
	if !ok {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSuffix(name, ";"), "/", ".")
}
