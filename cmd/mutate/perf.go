package main

import (
	"bytes"
	"slices"
)

// perfMutations damage the order, headers and bytes of records, and the file's header.
var perfMutations = []mutation{
	{"record-dropped", onPerf(dropRecord)},
	{"record-doubled", onPerf(doubleRecord)},
	{"record-swapped", onPerf(swapRecords)},
	{"record-moved", onPerf(moveRecord)},
	{"record-type", onPerf(recordType)},
	{"record-known-type", onPerf(knownType)},
	{"record-size", onPerf(recordSize)},
	{"record-misc", onPerf(recordMisc)},
	{"record-inserted", onPerf(insertRecord)},
	{"perf-cut", onBytes(cutPerf)},
	{"perf-zeroed", onBytes(zeroPerf)},
	{"perf-bits", onBytes(perfBits)},
	{"perf-header", onBytes(perfHeader)},
}

// onPerf makes a mutation that damages records. All times may shift, because they count from the
// first record.
func onPerf(do func(*damage, *perfFile) bool) func(*damage) bool {
	return onParts(func(d *damage, f *perfFile) bool {
		d.truth = d.truth.plus(truths["perf record"])
		return do(d, f)
	})
}

// onParts makes a mutation that changes the parsed parts of the file.
func onParts(do func(*damage, *perfFile) bool) func(*damage) bool {
	return func(d *damage) bool {
		name, data := d.read("recording.data")
		f := parsePerf(data)
		if f == nil || len(f.records) < 3 || !do(d, f) {
			return false
		}
		d.write(name, f.bytes())
		return true
	}
}

// onBytes makes a mutation that changes the bytes of the file; it also gets the parsed parts.
func onBytes(do func(*damage, *perfFile, []byte) []byte) func(*damage) bool {
	return func(d *damage) bool {
		name, data := d.read("recording.data")
		f := parsePerf(data)
		if f == nil || len(f.records) == 0 {
			return false
		}
		if data = do(d, f, data); data == nil {
			return false
		}
		d.write(name, data)
		return true
	}
}

// pick returns a random record. It chooses a type first, because most records are samples.
func (f *perfFile) pick(d *damage) int {
	var types []int
	for _, r := range f.records {
		if !slices.Contains(types, typeOf(r)) {
			types = append(types, typeOf(r))
		}
	}
	slices.Sort(types)
	return pick(d, f.of(pick(d, types)))
}

// samples returns how many samples a record is: 1 or 0.
func (f *perfFile) samples(at int) int {
	if typeOf(f.records[at]) == recordSample {
		return 1
	}
	return 0
}

// kind returns `of` as the key in truths if a record is a sample, otherwise "": stackmill must
// report damage to other records, which describe processes or hold compressed data.
func (f *perfFile) kind(at int, of string) string {
	if typeOf(f.records[at]) == recordSample {
		return of
	}
	return ""
}

func dropRecord(d *damage, f *perfFile) bool {
	at := f.pick(d)
	d.did(f.kind(at, "record dropped"), f.samples(at), "record %d, type %d, is taken out", at, typeOf(f.records[at]))
	f.records = slices.Delete(f.records, at, at+1)
	return true
}

func doubleRecord(d *damage, f *perfFile) bool {
	at := f.pick(d)
	f.records = slices.Insert(f.records, at, f.records[at])
	return d.did(f.kind(at, "record doubled"), f.samples(at), "record %d, type %d, is there twice", at, typeOf(f.records[at]))
}

// swapRecords swaps two adjacent records. The result must be the same, because records are sorted
// by time.
func swapRecords(d *damage, f *perfFile) bool {
	at := d.IntN(len(f.records) - 1)
	a, b := typeOf(f.records[at]), typeOf(f.records[at+1])
	if a >= recordAttr || b >= recordAttr || bytes.Equal(f.records[at], f.records[at+1]) {
		return false
	}
	f.records[at], f.records[at+1] = f.records[at+1], f.records[at]
	return d.did("", 0, "records %d and %d, types %d and %d, are swapped", at, at+1, a, b)
}

func moveRecord(d *damage, f *perfFile) bool {
	list := f.of(recordSample)
	if len(list) < 2 {
		return false
	}
	from, to := pick(d, list), pick(d, list)
	r := f.records[from]
	f.records = slices.Insert(slices.Delete(f.records, from, from+1), to, r)
	return d.did("", 0, "record %d is moved to %d", from, to)
}

// recordType gives a record a type that perf does not have.
func recordType(d *damage, f *perfFile) bool {
	at := f.pick(d)
	r, typ := bytes.Clone(f.records[at]), pick(d, []uint32{0, 23, 40, 63, 85, 200, 1 << 16, 1<<31 - 1, ^uint32(0)})
	d.did("", 0, "record %d has type %d instead of %d", at, typ, typeOf(r))
	le.PutUint32(r, typ)
	f.records[at] = r
	return true
}

// knownType gives a sample the type of another kind of record.
func knownType(d *damage, f *perfFile) bool {
	list := f.of(recordSample)
	if len(list) == 0 {
		return false
	}
	at := pick(d, list)
	r, typ := bytes.Clone(f.records[at]), pick(d, []uint32{1, 3, 4, 5, 7, 8, 10, 11, 12, 14, 16, 17, 19, 68, 82})
	le.PutUint32(r, typ)
	f.records[at] = r
	return d.did("record's known type", 1, "record %d, a sample, has type %d", at, typ)
}

// recordSize changes the size in a record's header, but not the size of the record.
func recordSize(d *damage, f *perfFile) bool {
	at := f.pick(d)
	r := bytes.Clone(f.records[at])
	size := pick(d, []int{0, 1, 7, 8, len(r) - 8, len(r) - 1, len(r) + 1, len(r) + 8, len(r) + 16, 0x7fff, 0xffff})
	if size == len(r) || size < 0 {
		return false
	}
	le.PutUint16(r[6:], uint16(size))
	f.records[at] = r
	return d.did("", 0, "record %d, type %d, has size %d instead of %d", at, typeOf(r), size, len(r))
}

func recordMisc(d *damage, f *perfFile) bool {
	at := f.pick(d)
	r := bytes.Clone(f.records[at])
	v := uint16(d.Uint32())
	le.PutUint16(r[4:], v)
	f.records[at] = r
	return d.did(f.kind(at, "record's value"), f.samples(at), "record %d, type %d, has misc %#x", at, typeOf(r), v)
}

// insertRecord inserts a record with random content.
func insertRecord(d *damage, f *perfFile) bool {
	at := d.IntN(len(f.records))
	body := make([]byte, 8*d.IntN(40))
	if d.IntN(2) == 0 {
		for i := range body {
			body[i] = byte(d.Uint32())
		}
	}
	typ := 1 + d.IntN(84)
	f.records = slices.Insert(f.records, at, record(typ, d.IntN(8), body))
	n := 0
	if typ == recordSample {
		n = 1
	}
	return d.did("record inserted", n, "there is a record %d of type %d with %d bytes", at, typ, len(body))
}

// cutPerf truncates the file before, in or after its records.
func cutPerf(d *damage, f *perfFile, data []byte) []byte {
	at, total := len(f.head), len(data)
	k := d.IntN(len(f.records))
	for _, r := range f.records[:k] {
		at += len(r)
	}
	switch d.IntN(4) {
	case 0: // between two records
	case 1: // after the records
		at = len(f.head) + len(bytes.Join(f.records, nil))
		if at == total {
			return nil
		}
		at += d.IntN(total - at)
	case 2: // before the records
		at = d.IntN(len(f.head))
	default:
		at += 1 + d.IntN(len(f.records[k])-1)
	}
	d.did("", 0, "the file is cut at %d of %d (record %d)", at, total, k)
	return data[:at]
}

// touched returns how many records overlap the bytes from `from` to `to`, whether a header does,
// and whether a record other than a sample does.
func (f *perfFile) touched(from, to int) (records int, headers, other bool) {
	at := len(f.head)
	if from < at {
		headers = true
	}
	for _, r := range f.records {
		if at < to && at+len(r) > from {
			records++
			headers = headers || at+8 > from
			other = other || typeOf(r) != recordSample
		}
		at += len(r)
	}
	return records, headers || to > at, other
}

func zeroPerf(d *damage, f *perfFile, data []byte) []byte {
	from := len(f.head) + d.IntN(len(data)-len(f.head))
	to := min(from+1+d.IntN(pick(d, []int{8, 64, 4096, 65536})), len(data))
	n, headers, other := f.touched(from, to)
	clear(data[from:to])
	return f.changed(d, data, n, headers, other, "bytes %d to %d, of %d records, are 0", from, to, n)
}

func perfBits(d *damage, f *perfFile, data []byte) []byte {
	at, bit := len(f.head)+d.IntN(len(data)-len(f.head)), d.IntN(8)
	n, headers, other := f.touched(at, at+1)
	data[at] ^= 1 << bit
	return f.changed(d, data, n, headers, other, "bit %d of byte %d is flipped", bit, at)
}

// changed notes that bytes were overwritten. Only within samples, they are values that stackmill
// cannot check.
func (f *perfFile) changed(d *damage, data []byte, n int, headers, other bool, format string, args ...any) []byte {
	d.truth = d.truth.plus(truths["perf record"])
	switch {
	case other && len(f.of(recordCompressed)) > 0:
		d.did("compressed data", n, format, args...)
	case headers || other && d.rec.base.gprofng:
		d.did("", 0, format, args...)
	default:
		d.did("record's time", n, format, args...)
	}
	return data
}

// perfHeader changes a field of the file's header.
func perfHeader(d *damage, f *perfFile, data []byte) []byte {
	at := 8 * d.IntN(min(len(f.head), 104)/8)
	v := d.absurd()
	switch d.IntN(3) {
	case 0:
		v = le.Uint64(data[at:]) + pick(d, []uint64{1, 8, 16, 4096, ^uint64(0), ^uint64(0) - 7})
	case 1:
		v = le.Uint64(data[at:]) ^ 1<<d.IntN(64)
	}
	d.did("", 0, "the header's word at %d is %#x instead of %#x", at, v, le.Uint64(data[at:]))
	le.PutUint64(data[at:], v)
	return data
}
