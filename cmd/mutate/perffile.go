package main

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// perfFile is a perf.data file, split into its parts (perf-data 1). bytes joins them again, with
// offsets and sizes that fit changed parts.
type perfFile struct {
	pipe     bool
	head     []byte // header, attributes and ids: everything before the records
	records  [][]byte
	features []feature
	gap      []byte // unused space after the index of features: perf reserves it for features that it then does not write
	attrs    []int  // offsets of the attributes in head
}

type feature struct {
	bit     int
	payload []byte
}

// Offsets of the header's fields.
const (
	attrSizeAt  = 16
	attrsAt     = 24
	dataAt      = 40
	featuresAt  = 72
	recordMagic = "PERFILE2"
)

func parsePerf(data []byte) *perfFile {
	if len(data) < 16 || string(data[:8]) != recordMagic {
		return nil
	}
	f := &perfFile{pipe: le.Uint64(data[8:]) == 16}
	if f.pipe {
		f.head, f.records = data[:16], splitRecords(data[16:])
		return f
	}
	from, size := le.Uint64(data[dataAt:]), le.Uint64(data[dataAt+8:])
	f.head, f.records = bytes.Clone(data[:from]), splitRecords(data[from:from+size])
	for o, end := le.Uint64(data[attrsAt:]), le.Uint64(data[attrsAt:])+le.Uint64(data[attrsAt+8:]); o < end; o += le.Uint64(data[attrSizeAt:]) {
		f.attrs = append(f.attrs, int(o))
	}
	index, first := data[from+size:], uint64(len(data))
	for word := range 4 {
		set := le.Uint64(data[featuresAt+8*word:])
		for ; set != 0; set &= set - 1 {
			off, n := le.Uint64(index), le.Uint64(index[8:])
			f.features = append(f.features, feature{64*word + bits.TrailingZeros64(set), data[off : off+n]})
			first = min(first, off)
			index = index[16:]
		}
	}
	if len(f.features) > 0 {
		f.gap = data[len(data)-len(index) : first]
	}
	return f
}

func splitRecords(data []byte) (list [][]byte) {
	for len(data) >= 8 {
		size := int(le.Uint16(data[6:]))
		if size < 8 || size > len(data) {
			break
		}
		list = append(list, data[:size])
		data = data[size:]
	}
	return list
}

// bytes returns the file made of the parts.
func (f *perfFile) bytes() []byte {
	data := bytes.Join(f.records, nil)
	out := append(bytes.Clone(f.head), data...)
	if f.pipe {
		return out
	}
	le.PutUint64(out[dataAt+8:], uint64(len(data)))
	at := len(out) + 16*len(f.features) + len(f.gap)
	for _, x := range f.features {
		out = le.AppendUint64(le.AppendUint64(out, uint64(at)), uint64(len(x.payload)))
		at += len(x.payload)
	}
	out = append(out, f.gap...)
	for _, x := range f.features {
		out = append(out, x.payload...)
	}
	return out
}

// Types of records that mutations distinguish.
const (
	recordMmap       = 1
	recordComm       = 3
	recordExit       = 4
	recordFork       = 7
	recordSample     = 9
	recordMmap2      = 10
	recordAttr       = 64
	recordRound      = 68
	recordCompressed = 81
)

func typeOf(r []byte) int { return int(le.Uint32(r)) }

// of returns the indexes of the records that have one of the types.
func (f *perfFile) of(types ...int) (list []int) {
	for i, r := range f.records {
		for _, t := range types {
			if typeOf(r) == t {
				list = append(list, i)
			}
		}
	}
	return list
}

// sampleType returns the sample type (the bits of the recorded fields) of the first event.
func (f *perfFile) sampleType() uint64 {
	if len(f.attrs) > 0 {
		return le.Uint64(f.head[f.attrs[0]+24:])
	}
	for _, i := range f.of(recordAttr) {
		return le.Uint64(f.records[i][8+24:])
	}
	return 0
}

// sampleField is a field of a record: its offset and size.
type sampleField struct {
	name     string
	off, len int
}

// sampleFields returns the fields of a sample, up to the first whose offset is not fixed (perf-data
// 6).
func (f *perfFile) sampleFields(r []byte) (list []sampleField) {
	off, set := 8, f.sampleType()
	add := func(bit, n int, name string) {
		if set>>bit&1 == 1 && off+n <= len(r) {
			list = append(list, sampleField{name, off, n})
			off += n
		}
	}
	add(16, 8, "identifier")
	add(0, 8, "address")
	if set>>1&1 == 1 && off+8 <= len(r) {
		list = append(list, sampleField{"pid", off, 4}, sampleField{"tid", off + 4, 4})
		off += 8
	}
	add(2, 8, "time")
	add(3, 8, "data address")
	add(6, 8, "id")
	add(9, 8, "stream")
	add(7, 4, "cpu")
	if set>>7&1 == 1 {
		off += 4
	}
	add(8, 8, "period")
	switch {
	case set>>4&1 == 1:
		add(4, 8, "read count")
		for off+8 <= len(r) {
			add(4, 8, "read value")
		}
	case set>>5&1 == 1:
		add(5, 8, "chain length")
		for off+8 <= len(r) && set>>12 == 0 {
			add(5, 8, "chain")
		}
	case set>>10&1 == 1:
		add(10, 4, "raw size")
	}
	return list
}

func (s sampleField) put(r []byte, v uint64) {
	if s.len == 4 {
		le.PutUint32(r[s.off:], uint32(v))
		return
	}
	le.PutUint64(r[s.off:], v)
}

// sideFields are the fields of records that are not samples, by type (perf-data 5.1).
var sideFields = map[int][]sampleField{
	recordMmap:  {{"pid", 8, 4}, {"tid", 12, 4}, {"start", 16, 8}, {"length", 24, 8}, {"offset", 32, 8}},
	recordMmap2: {{"pid", 8, 4}, {"tid", 12, 4}, {"start", 16, 8}, {"length", 24, 8}, {"offset", 32, 8}, {"device", 40, 8}, {"inode", 48, 8}, {"protection", 64, 4}, {"flags", 68, 4}},
	recordComm:  {{"pid", 8, 4}, {"tid", 12, 4}},
	recordExit:  {{"pid", 8, 4}, {"ppid", 12, 4}, {"tid", 16, 4}, {"ptid", 20, 4}, {"time", 24, 8}},
	recordFork:  {{"pid", 8, 4}, {"ppid", 12, 4}, {"tid", 16, 4}, {"ptid", 20, 4}, {"time", 24, 8}},
}

// record returns the bytes of a record with this type and content.
func record(typ, misc int, body []byte) []byte {
	r := binary.LittleEndian.AppendUint32(nil, uint32(typ))
	r = le.AppendUint16(r, uint16(misc))
	r = le.AppendUint16(r, uint16(8+len(body)))
	return append(r, body...)
}
