package main

import (
	"bytes"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// perfLargeMutations make small files that expand to enormous tables.
var perfLargeMutations = []mutation{
	{"many-forks", onPerf(manyForks)},
	{"many-mappings", onPerf(manyMappings)},
	{"many-processes", onPerf(manyProcesses)},
	{"many-events", onPerf(manyEvents)},
	{"overlapping-ids", onPerf(overlappingIDs)},
	{"zstd-bomb", onPerf(zstdBomb)},
}

// trailer returns a record's trailer with zeros, as in records that perf synthesizes.
func (f *perfFile) trailer() []byte { return make([]byte, 8*trailerWords(f.sampleType())) }

func (f *perfFile) mapping(pid uint32, start, length uint64, name string) []byte {
	body := le.AppendUint32(le.AppendUint32(nil, pid), pid)
	body = le.AppendUint64(le.AppendUint64(le.AppendUint64(body, start), length), 0)
	body = append(body, make([]byte, 24)...)
	body = le.AppendUint32(le.AppendUint32(body, 5), 2)
	body = append(body, name...)
	body = append(body, make([]byte, 8-len(body)%8)...)
	return record(recordMmap2, 2, append(body, f.trailer()...))
}

func (f *perfFile) fork(child, parent uint32, time uint64) []byte {
	body := le.AppendUint32(le.AppendUint32(nil, child), parent)
	body = le.AppendUint32(le.AppendUint32(body, child), parent)
	return record(recordFork, 0, append(le.AppendUint64(body, time), f.trailer()...))
}

// insert adds records before the first sample.
func (f *perfFile) insert(list [][]byte) bool {
	samples := f.of(recordSample)
	if len(samples) == 0 {
		return false
	}
	f.records = slices.Insert(f.records, samples[0], list...)
	return true
}

// manyForks adds a process with many mappings that forks very often.
func manyForks(d *damage, f *perfFile) bool {
	maps, forks := 1000+d.IntN(1000), 10000+d.IntN(20000)
	var list [][]byte
	for i := range maps {
		list = append(list, f.mapping(70000, uint64(i)<<20, 4096, "/lib/m"))
	}
	for i := range forks {
		list = append(list, f.fork(uint32(80000+i), 70000, 0))
	}
	return f.insert(list) && d.did("", 0, "%d forks of a process with %d mappings", forks, maps)
}

func manyMappings(d *damage, f *perfFile) bool {
	n := 200_000
	var list [][]byte
	for range n {
		list = append(list, f.mapping(uint32(d.IntN(3)), d.Uint64N(1<<47), d.Uint64N(1<<32), "/lib/m"+string(rune('a'+d.IntN(26)))))
	}
	return f.insert(list) && d.did("", 0, "%d mappings, which overlap", n)
}

// manyProcesses gives each sample a process of its own.
func manyProcesses(d *damage, f *perfFile) bool {
	samples := f.of(recordSample)
	n := 0
	for _, at := range samples {
		f.records[at] = bytes.Clone(f.records[at])
		for _, x := range f.sampleFields(f.records[at]) {
			if x.name == "pid" || x.name == "tid" {
				x.put(f.records[at], uint64(100000+at))
				n++
			}
		}
	}
	return n > 0 && d.did("record's value", len(samples), "each of %d samples has a process of its own", len(samples))
}

// manyEvents adds copies of the first attribute.
func manyEvents(d *damage, f *perfFile) bool {
	if len(f.attrs) == 0 {
		return false
	}
	n, size := 20000, int(le.Uint64(f.head[attrSizeAt:]))
	entry := bytes.Clone(f.head[f.attrs[0] : f.attrs[0]+size])
	at := len(f.head)
	for _, a := range f.attrs {
		f.head = append(f.head, f.head[a:a+size]...)
	}
	for i := range n {
		le.PutUint64(entry[8:], uint64(i)) // so that the events differ
		f.head = append(f.head, entry...)
	}
	le.PutUint64(f.head[attrsAt:], uint64(at))
	le.PutUint64(f.head[attrsAt+8:], uint64(len(f.head)-at))
	f.moved()
	return d.did("", 0, "%d more events, all with the ids of the first", n)
}

// moved updates the offset of the records after the head has grown.
func (f *perfFile) moved() { le.PutUint64(f.head[dataAt:], uint64(len(f.head))) }

// overlappingIDs adds events that all have the same long list of ids.
func overlappingIDs(d *damage, f *perfFile) bool {
	if len(f.attrs) == 0 {
		return false
	}
	n, ids, size := 1000, 50000, int(le.Uint64(f.head[attrSizeAt:]))
	entry := bytes.Clone(f.head[f.attrs[0] : f.attrs[0]+size])
	list := len(f.head)
	for i := range ids {
		f.head = le.AppendUint64(f.head, uint64(1000000+i))
	}
	at := len(f.head)
	for _, a := range f.attrs {
		f.head = append(f.head, f.head[a:a+size]...)
	}
	le.PutUint64(entry[size-16:], uint64(list))
	le.PutUint64(entry[size-8:], uint64(8*ids))
	f.head = append(f.head, bytes.Repeat(entry, n)...)
	le.PutUint64(f.head[attrsAt:], uint64(at))
	le.PutUint64(f.head[attrsAt+8:], uint64(len(f.head)-at))
	f.moved()
	return d.did("", 0, "%d events share a list of %d ids", n, ids)
}

// zstdBomb adds compressed records that are small, but become very large when they are
// decompressed.
func zstdBomb(d *damage, f *perfFile) bool {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
	if err != nil {
		d.err = err
		return false
	}
	defer w.Close()
	content := make([]byte, 512<<20)
	if d.IntN(2) == 0 { // valid records without any effect
		content = bytes.Repeat(record(recordRound, 0, nil), 8<<20)
	}
	packed := w.EncodeAll(content, nil)
	for len(packed) > 0 {
		n := min(len(packed), 60000)
		f.records = append(f.records, record(recordCompressed, 0, packed[:n]))
		packed = packed[n:]
	}
	return d.did("", 0, "at the end are compressed data that hold %d MB", len(content)>>20)
}
