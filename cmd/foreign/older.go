package main

import (
	"bytes"
	"encoding/binary"
	"os"
)

// Sizes, types and bits in a perf.data file (perf-data 1, 2).
const (
	fileHeader    = 104
	attrKnown     = 128   // size of the descriptions of events that perf 6.1 knows
	simpleperfOwn = 32768 // lowest type of records that only simpleperf has
	eventType     = 65    // type of a record that perf ignores
	tracingRecord = 66    // type of a record; only simpleperf writes the tracing data into the record itself
	tracingData   = 1     // bit of the feature TRACING_DATA
	// Types of events.
	typeTracepoint, typeRaw = 2, 4
)

// older returns the path of a file that perf 6.1 can read: file itself or, if newer tools wrote it,
// a copy without what perf 6.1 rejects. In the copy, descriptions of events are cut to the size
// that perf 6.1 knows. simpleperf's own records get a type that perf ignores, and its tracepoints
// become raw events. The samples stay the same.
func older(file, copied string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil || len(b) < fileHeader {
		return file, err
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(b, []byte("PERFILE2")):
	case bytes.HasPrefix(b, []byte("2ELIFREP")):
		order = binary.BigEndian
	default:
		return file, nil
	}
	if order.Uint64(b[8:]) != fileHeader {
		return file, nil
	}
	changed := shortAttrs(b, order)
	if changed = withoutOwn(b, order) || changed; !changed {
		return file, nil
	}
	return copied, os.WriteFile(copied, b, 0o600)
}

// shortAttrs cuts the descriptions of events to the size that perf 6.1 knows. It reports whether it
// changed anything.
func shortAttrs(b []byte, order binary.ByteOrder) bool {
	each, from, size := order.Uint64(b[16:]), order.Uint64(b[24:]), order.Uint64(b[32:])
	if each <= attrKnown+16 || each > 4096 || from > uint64(len(b)) || size > uint64(len(b))-from {
		return false
	}
	const short = attrKnown + 16
	for i := range size / each {
		attr, to := b[from+i*each:from+(i+1)*each], b[from+i*short:]
		ids := bytes.Clone(attr[each-16:])
		copy(to, attr[:attrKnown])
		order.PutUint32(to[4:], attrKnown)
		copy(to[attrKnown:], ids)
	}
	order.PutUint64(b[16:], short)
	order.PutUint64(b[32:], size/each*short)
	return true
}

// withoutOwn changes the type of records that only simpleperf knows, so that perf ignores them.
func withoutOwn(b []byte, order binary.ByteOrder) (changed bool) {
	from, size := order.Uint64(b[40:]), order.Uint64(b[48:])
	if from > uint64(len(b)) || size > uint64(len(b))-from {
		return false
	}
	own := bytes.Contains(b, []byte("simpleperf_version"))
	for at := from; at+8 <= from+size; {
		record := uint64(order.Uint16(b[at+6:]))
		if record < 8 {
			break
		}
		if typ := order.Uint32(b[at:]); typ >= simpleperfOwn || typ == tracingRecord {
			order.PutUint32(b[at:], eventType)
			changed, own = true, true
		}
		at += record
	}
	if own { // perf would look for a description of each tracepoint: make the events raw ones
		each, first, size := order.Uint64(b[16:]), order.Uint64(b[24:]), order.Uint64(b[32:])
		for at := first; each > 0 && at+each <= min(first+size, uint64(len(b))); at += each {
			if order.Uint32(b[at:]) == typeTracepoint {
				order.PutUint32(b[at:], typeRaw)
				changed = true
			}
		}
	}
	// features is the byte with the bits of the first eight features. Their index follows the
	// records.
	features := &b[72]
	if order == binary.ByteOrder(binary.BigEndian) {
		features = &b[72+7]
	}
	if own && *features&(1<<tracingData) != 0 {
		table := b[from+size:]
		copy(table, table[16:min(len(table), 16*256)])
		*features &^= 1 << tracingData
		changed = true
	}
	return changed
}
