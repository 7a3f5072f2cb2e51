package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// wallBombs make recordings whose threads, names, and fields of tracepoints are more or longer than
// in any real one.
var wallBombs = []mutation{
	{"many-fields", onFormats(manyFields)},
	{"many-formats", onFormats(manyFormats)},
	{"same-content", onPerf(sameContent)},
	{"many-threads", onPerf(manyThreads)},
	{"many-names", onPerf(manyNames)},
	{"long-texts", onPerf(longTexts)},
}

// manyFields adds fields to each description. All of them lie in the samples' first bytes.
func manyFields(d *damage, b []byte) []byte {
	t, n := parseTracing(b), pick(d, []int{5000, 70_000, 1_000_000})
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "\tfield:u8 x%d;\toffset:%d;\tsize:%d;\tsigned:0;\n", i, 8+i%8, n%2)
	}
	s := &t.systems[d.IntN(len(t.systems))]
	k := d.IntN(len(s.formats))
	s.formats[k] = strings.Replace(s.formats[k], "\nprint fmt", "\n"+lines.String()+"\nprint fmt", 1)
	d.did("", 0, "a description of %s has %d more fields", s.name, n)
	return t.bytes()
}

func manyFormats(d *damage, b []byte) []byte {
	t, n := parseTracing(b), 100_000
	s := &t.systems[d.IntN(len(t.systems))]
	for i := range n {
		s.formats = append(s.formats, fmt.Sprintf("name: x%d\nID: %d\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\tfield:u64 x;\toffset:8;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n", i, 1_000_000+i))
	}
	d.did("many formats", 0, "%s has %d more descriptions", s.name, n)
	return t.bytes()
}

// sameContent gives a description thousands of texts, which have the same place in samples.
func sameContent(d *damage, f *perfFile) bool {
	n, at := f.pickRaw(d)
	tracing := slices.IndexFunc(f.features, func(x feature) bool { return x.bit == featureTracing })
	if n < 0 || tracing < 0 {
		return false
	}
	const fields, length = 1000, 30_000
	r := f.records[n]
	config := le.Uint64(f.head[f.attrOf(r)+8:])
	t := parseTracing(f.features[tracing].payload)
	for i := range t.systems {
		for k, text := range t.systems[i].formats {
			if !strings.Contains(text, fmt.Sprintf("\nID: %d\n", config)) {
				continue
			}
			var lines strings.Builder
			for i := range fields {
				fmt.Fprintf(&lines, "\tfield:__data_loc char[] y%d;\toffset:%d;\tsize:4;\tsigned:0;\n", i, 256+4*i)
			}
			t.systems[i].formats[k] = strings.Replace(text, "\nprint fmt", "\n"+lines.String()+"\nprint fmt", 1)
		}
	}
	f.features[tracing].payload = t.bytes()
	own := make([]byte, 256+4*fields+length+4)
	copy(own, r[at+4:][:min(256, le.Uint32(r[at:]))])
	for i := range fields {
		le.PutUint32(own[256+4*i:], length<<16|256+4*fields)
	}
	for i := range length {
		own[256+4*fields+i] = 'x'
	}
	own = own[:len(own)-(4+len(own))%8]
	large := record(recordSample, int(le.Uint16(r[4:])), append(le.AppendUint32(bytes.Clone(r[8:at]), uint32(len(own))), own...))
	for range 2000 {
		f.records = append(f.records, large)
	}
	return d.did("", 0, "%d texts of %d bytes in each of 2000 samples have the same place", fields, length)
}

// latest returns the latest time in a trailer of switch records, and one of these.
func (f *perfFile) latest() (r []byte, time uint64) {
	for _, at := range f.of(recordSwitch, recordSwitchCPUWide) {
		for _, x := range f.trailerFields(f.records[at]) {
			if x.name == "time" {
				if t := le.Uint64(f.records[at][x.off:]); t > time {
					r, time = f.records[at], t
				}
			}
		}
	}
	return r, time
}

// manyThreads adds threads that are each switched out once, of one process or each of its own.
func manyThreads(d *damage, f *perfFile) bool {
	r, time := f.latest()
	if r == nil {
		return false
	}
	n, own := 1_000_000, d.IntN(2) == 0
	if own {
		n = 50_000
	}
	for i := range n {
		r = bytes.Clone(r)
		for _, x := range f.trailerFields(r) {
			switch {
			case x.name == "tid", x.name == "pid" && own:
				x.put(r, uint64(1_000_000+i))
			case x.name == "time":
				x.put(r, time+uint64(i)/10)
			}
		}
		f.records = append(f.records, r)
	}
	return d.did("more threads", 0, "%d threads more are switched once, each in a process of its own: %t", n, own)
}

// manyNames gives a thread a new name very often.
func manyNames(d *damage, f *perfFile) bool {
	_, time := f.latest()
	list := f.of(recordComm)
	if len(list) == 0 || time == 0 {
		return false
	}
	r, n := f.records[pick(d, list)], pick(d, []int{50_000, 1_000_000})
	size := 8 * trailerWords(f.sampleType())
	for i := range n {
		body := append(bytes.Clone(r[8:16]), fmt.Sprintf("%015d\x00", i)...)
		own := record(recordComm, 0, append(body, r[len(r)-size:]...))
		for _, x := range f.trailerFields(own) {
			if x.name == "time" {
				x.put(own, time+uint64(i)/10)
			}
		}
		f.records = append(f.records, own)
	}
	return d.did("more threads", 0, "a thread has %d more names", n)
}

// longTexts adds samples with data of 60,000 bytes, which end with a text.
func longTexts(d *damage, f *perfFile) bool {
	n, at := f.pickRaw(d)
	if n < 0 {
		return false
	}
	r := f.records[n]
	own := make([]byte, 60_004)
	copy(own, r[at+4:][:le.Uint32(r[at:])])
	for i := int(le.Uint32(r[at:])); i < len(own); i++ {
		own[i] = byte('a' + i%26)
	}
	for k := 8; k+4 <= int(le.Uint32(r[at:])); k += 4 { // where a text may be described
		if d.IntN(2) == 0 {
			le.PutUint32(own[k:], 59_000<<16|200)
		}
	}
	large := record(recordSample, int(le.Uint16(r[4:])), append(le.AppendUint32(bytes.Clone(r[8:at]), uint32(len(own))), own...))
	for range 3000 {
		f.records = append(f.records, large)
	}
	return d.did("record inserted", 3000, "3000 samples have %d bytes of their own", len(own))
}
