package main

import (
	"bytes"
	"slices"
	"strings"
)

// perfFieldMutations change the values of fields in records, attributes and features.
var perfFieldMutations = []mutation{
	{"sample-field", onPerf(sampleValue)},
	{"side-field", onPerf(sideValue)},
	{"side-name", onPerf(sideName)},
	{"attr-field", onParts(attrField)},
	{"attr-ids", onParts(attrIDs)},
	{"feature-bytes", onParts(featureBytes)},
	{"feature-dropped", onParts(dropFeature)},
	{"feature-length", onParts(featureLength)},
	{"feature-index", onBytes(featureIndex)},
}

// sampleValue gives a field of a sample an unlikely value. stackmill must report a length that does
// not fit into the record.
func sampleValue(d *damage, f *perfFile) bool {
	list := f.of(recordSample)
	if len(list) == 0 {
		return false
	}
	at := pick(d, list)
	r := bytes.Clone(f.records[at])
	fields := f.sampleFields(r)
	byName := map[string][]sampleField{}
	var names []string
	for _, x := range fields {
		if byName[x.name] == nil {
			names = append(names, x.name)
		}
		byName[x.name] = append(byName[x.name], x)
	}
	x := pick(d, byName[pick(d, names)])
	v := d.absurd()
	x.put(r, v)
	f.records[at] = r
	kind := "record's value"
	switch x.name {
	case "chain length", "read count", "raw size":
		kind = ""
	case "time":
		kind = "record's time"
	}
	return d.did(kind, 1, "%s of sample %d is %#x", x.name, at, v)
}

// sideValue gives a field of a record about a process or mapping an unlikely value.
func sideValue(d *damage, f *perfFile) bool {
	list := f.of(recordMmap, recordMmap2, recordComm, recordExit, recordFork)
	if len(list) == 0 {
		return false
	}
	at := pick(d, list)
	r := bytes.Clone(f.records[at])
	x := pick(d, sideFields[typeOf(r)])
	v := d.absurd()
	if d.IntN(3) == 0 { // a value of another record, which this one then contradicts
		o := f.records[pick(d, f.of(typeOf(r)))]
		v = uint64(le.Uint32(o[8:]))
	}
	x.put(r, v)
	f.records[at] = r
	return d.did("", 0, "%s of record %d, type %d, is %#x", x.name, at, typeOf(r), v)
}

// sideName gives a mapping or a process a hostile name.
func sideName(d *damage, f *perfFile) bool {
	list := f.of(recordMmap, recordMmap2, recordComm)
	if len(list) == 0 {
		return false
	}
	at := pick(d, list)
	r := f.records[at]
	name := pick(d, []string{"", "\x1b[2J\x1b]0;owned\a", "../../../../../../etc/passwd", "/dev/zero", "/proc/self/mem", "\xff\xfe\xfd", "\u202eevil", "[vdso]", "[kernel.kallsyms]_text", "//anon", "%s%n\n\n", strings.Repeat("/a", 30000)})
	start := map[int]int{recordMmap: 40, recordMmap2: 72, recordComm: 16}[typeOf(r)]
	trailer := r[len(r)-8*trailerWords(f.sampleType()):]
	body := append(bytes.Clone(r[8:start]), name...)
	if d.IntN(4) > 0 {
		body = append(body, make([]byte, 8-len(body)%8)...)
	} else {
		body = append(body, bytes.Repeat([]byte{'x'}, (8-len(body)%8)%8)...) // without the NUL at the end
	}
	f.records[at] = record(typeOf(r), int(le.Uint16(r[4:])), append(body, trailer...))
	return d.did("", 0, "the name of record %d, type %d, is %.40q", at, typeOf(r), name)
}

// trailerWords returns the number of words in the trailer of records that are not samples
// (perf-data 6.4).
func trailerWords(sampleType uint64) (n int) {
	for _, bit := range []int{1, 2, 6, 9, 7, 16} {
		n += int(sampleType >> bit & 1)
	}
	return n
}

// attrFields are the fields of an attribute (perf-data 4).
var attrFields = []sampleField{{"type", 0, 4}, {"size", 4, 4}, {"config", 8, 8}, {"period", 16, 8}, {"sample type", 24, 8}, {"read format", 32, 8}, {"flags", 40, 8},
	{"wakeup", 48, 4}, {"breakpoint", 52, 4}, {"config1", 56, 8}, {"branches", 72, 8}, {"registers", 80, 8}, {"stack size", 88, 4}, {"clock", 92, 4}}

// attrField changes a field in the attribute of an event.
func attrField(d *damage, f *perfFile) bool {
	attr, where := f.pickAttr(d)
	if attr == nil {
		return false
	}
	x := pick(d, attrFields)
	var v uint64
	if x.len == 4 {
		v = uint64(le.Uint32(attr[x.off:]))
	} else {
		v = le.Uint64(attr[x.off:])
	}
	if d.IntN(2) == 0 {
		v = d.absurd()
	} else {
		v ^= 1 << d.IntN(8*x.len)
	}
	x.put(attr, v)
	return d.did("", 0, "%s of %s is %#x", x.name, where, v)
}

func (f *perfFile) pickAttr(d *damage) (attr []byte, where string) {
	if len(f.attrs) > 0 {
		return f.head[pick(d, f.attrs):], "an attribute"
	}
	list := f.of(recordAttr)
	if len(list) == 0 {
		return nil, ""
	}
	at := pick(d, list)
	f.records[at] = bytes.Clone(f.records[at])
	return f.records[at][8:], "an attribute's record"
}

// attrIDs changes the position or size of the list of an event's ids.
func attrIDs(d *damage, f *perfFile) bool {
	if len(f.attrs) == 0 {
		return false
	}
	at := pick(d, f.attrs) + int(le.Uint64(f.head[attrSizeAt:])) - 16 + 8*d.IntN(2)
	v := d.absurd()
	if d.IntN(2) == 0 {
		v = le.Uint64(f.head[at:]) + 8*uint64(d.IntN(64))
	}
	d.did("", 0, "the section of ids of an attribute, at %d, has %#x instead of %#x", at, v, le.Uint64(f.head[at:]))
	le.PutUint64(f.head[at:], v)
	return true
}

// featureEvents is the bit of the feature EVENT_DESC (perf-data 2).
const featureEvents = 12

func featureBytes(d *damage, f *perfFile) bool {
	if len(f.features) == 0 {
		return false
	}
	k := d.IntN(len(f.features))
	x := f.features[k]
	if len(x.payload) == 0 {
		return false
	}
	x.payload = bytes.Clone(x.payload)
	at := d.IntN(len(x.payload))
	if d.IntN(2) == 0 && len(x.payload) >= 4 {
		le.PutUint32(x.payload[min(at&^3, len(x.payload)-4):], uint32(d.absurd()))
	} else {
		x.payload[at] = byte(d.Uint32())
	}
	f.features[k] = x
	return d.did(x.kind(), 0, "byte %d of feature %d, of %d, is another", at, x.bit, len(x.payload))
}

func (x feature) kind() string {
	if x.bit == featureEvents {
		return "event's name"
	}
	return ""
}

func dropFeature(d *damage, f *perfFile) bool {
	if len(f.features) == 0 {
		return false
	}
	k := d.IntN(len(f.features))
	x := f.features[k]
	f.features = slices.Delete(f.features, k, k+1)
	f.head[featuresAt+x.bit/8] &^= 1 << (x.bit % 8)
	return d.did(x.kind(), 0, "feature %d is taken out", x.bit)
}

func featureLength(d *damage, f *perfFile) bool {
	if len(f.features) == 0 {
		return false
	}
	k := d.IntN(len(f.features))
	x := f.features[k]
	n := 0
	if len(x.payload) > 0 && d.IntN(2) == 0 {
		n = d.IntN(len(x.payload))
		x.payload = x.payload[:n]
	} else {
		x.payload = append(bytes.Clone(x.payload), make([]byte, 1<<d.IntN(22))...)
		n = len(x.payload)
	}
	f.features[k] = x
	return d.did(x.kind(), 0, "feature %d has %d bytes", x.bit, n)
}

// featureIndex changes the position or size of a feature in the index.
func featureIndex(d *damage, f *perfFile, data []byte) []byte {
	if len(f.features) == 0 {
		return nil
	}
	k := d.IntN(len(f.features))
	at := int(le.Uint64(data[dataAt:])+le.Uint64(data[dataAt+8:])) + 16*k + 8*d.IntN(2)
	v := d.absurd()
	d.did(f.features[k].kind(), 0, "the index has %#x at %d, for feature %d", v, at, f.features[k].bit)
	le.PutUint64(data[at:], v)
	return data
}
