package gprofng

import (
	"bytes"
	"strings"

	"stackmill/problem"
	"stackmill/stages/decode"
)

// The packets of jclasses (gprofng-experiment 3.7).
const (
	classPacket    = 10<<8 | 3
	methodPacket   = 11<<8 | 3
	locationPacket = 14<<8 | 3

	classHeader  = 8      // size, type, padding
	classStrings = 8 + 16 // behind class id and time, or class id and method id
)

// readClasses reads the names of Java methods.
func (e *experiment) readClasses(data []byte) map[uint64]decode.JavaMethod {
	methods := map[uint64]decode.JavaMethod{}
	var class, file string
	for o := 0; o < len(data); {
		rest := data[o:]
		if len(rest) < classHeader || e.order.u16(rest) == 0 {
			if !allZero(rest) {
				e.report(problem.Error, classesFile, int64(o), "bad-packet", "%d bytes at the end are no packet", len(rest))
			}
			break
		}
		size, typ := int(e.order.u16(rest)), e.order.u16(rest[2:])
		if size < classHeader || size > len(rest) {
			e.report(problem.Error, classesFile, int64(o), "bad-packet", "a packet of type %#x has %d bytes, %d are left", typ, size, len(rest))
			break
		}
		packet := rest[:size]
		switch {
		case typ == locationPacket:
		case typ != classPacket && typ != methodPacket:
			e.report(problem.Info, classesFile, int64(o), "undescribed-packets", "packets of type %#x are not known; this one is ignored", typ)
		case size < classStrings:
			e.report(problem.Error, classesFile, int64(o), "bad-packet", "a packet of type %#x has %d bytes, its fields need %d", typ, size, classStrings)
		case typ == classPacket:
			var name []byte
			name, rest = cutString(packet[classStrings:])
			source, _ := cutString(rest)
			class, file = className(text(name)), text(source)
		case class != "":
			name, rest := cutString(packet[classStrings:])
			signature, _ := cutString(rest)
			methods[e.order.u64(packet[16:])] = decode.JavaMethod{Class: class, Name: text(name), Signature: text(signature), File: file}
		}
		o += size
	}
	return methods
}

// cutString cuts a NUL-terminated string off, which is padded to 4 bytes.
func cutString(b []byte) (s, rest []byte) {
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return b, nil
	}
	return b[:n], b[min(len(b), (n+4)&^3):]
}

// className turns `Lpkg/Name;` into `pkg.Name`; other names are not used.
func className(s string) string {
	name, ok := strings.CutPrefix(s, "L")
	if !ok {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSuffix(name, ";"), "/", ".")
}
