package main

import (
	"bytes"
	"encoding/binary"
	"os"
)

// Sizes, types and bits in a perf.data file (perf-data 1, 2).
const (
	fileHeader    = 104
	attrKnown     = 128   // the descriptions of events that perf 6.1 reads
	simpleperfOwn = 32768 // the first type of simpleperf's own records
	eventType     = 65    // a record that perf ignores
	tracingRecord = 66    // only simpleperf's contain the data
	tracingData   = 1     // the feature
	// Types of events.
	typeTracepoint, typeRaw = 2, 4
)

// older returns the path of a file that perf 6.1 can read: if newer tools wrote the given one, a
// copy, in which descriptions of events are cut to the size that perf 6.1 knows, and simpleperf's
// own records and its descriptions of tracepoints become records that perf ignores. The samples
// stay the same.
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

// shortAttrs cuts the descriptions of events.
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

// withoutOwn hides the records that only simpleperf knows.
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
	if own { // perf looks for descriptions of tracepoints: make the events raw ones
		each, first, size := order.Uint64(b[16:]), order.Uint64(b[24:]), order.Uint64(b[32:])
		for at := first; each > 0 && at+each <= min(first+size, uint64(len(b))); at += each {
			if order.Uint32(b[at:]) == typeTracepoint {
				order.PutUint32(b[at:], typeRaw)
				changed = true
			}
		}
	}
	// The first byte of the list of features. Their positions follow the records.
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
