package main

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// wallMutations damage what the states of threads and the fields of tracepoints depend on: the
// descriptions of tracepoints (TRACING_DATA), the samples' own data (RAW), switch records, and
// records of lost records and of counters.
var wallMutations = []mutation{
	{"formats-cut", onFormats(cutFormats)},
	{"formats-count", onFormats(formatsCount)},
	{"formats-byte", onFormats(formatsByte)},
	{"formats-field", onFormats(formatsField)},
	{"formats-line", onFormats(formatsLine)},
	{"formats-id", onFormats(formatsID)},
	{"raw-size", onPerf(rawSize)},
	{"raw-bytes", onPerf(rawBytes)},
	{"switch-dropped", onPerf(dropSwitches)},
	{"switch-doubled", onPerf(doubleSwitches)},
	{"switch-value", onPerf(switchValue)},
	{"switch-cut", onPerf(cutSwitch)},
	{"switch-order", onPerf(switchOrder)},
	{"lives", onPerf(changeLives)},
	{"thread-reused", onPerf(reuseThread)},
	{"lost-inserted", onPerf(insertLost)},
	{"id-index", onPerf(changeIDIndex)},
}

// Types of records that only wallMutations distinguish.
const (
	recordLost          = 2
	recordSwitch        = 14
	recordSwitchCPUWide = 15
	recordIDIndex       = 69
)

// featureTracing is the bit of the feature TRACING_DATA (perf-data 2).
const featureTracing = 1

// tracingData is the descriptions of tracepoints in their parts (perf-data 24.3).
type tracingData struct {
	head    []byte // up to the number of systems
	systems []tracingSystem
	tail    []byte
}

type tracingSystem struct {
	name    string
	formats []string
}

// parseTracing parses the content of TRACING_DATA; nil if it has another form.
func parseTracing(b []byte) *tracingData {
	const magic = "\x17\x08\x44tracing"
	at := len(magic)
	text := func() string {
		end := bytes.IndexByte(b[at:], 0)
		s := string(b[at : at+end])
		at += end + 1
		return s
	}
	skip := func() []byte {
		n := int(le.Uint64(b[at:]))
		at += 8 + n
		return b[at-n : at]
	}
	number := func() int {
		at += 4
		return int(le.Uint32(b[at-4:]))
	}
	text()
	at += 6
	for range 2 {
		text()
		skip()
	}
	for range number() {
		skip()
	}
	t := &tracingData{head: b[:at]}
	for range number() {
		s := tracingSystem{name: text()}
		for range number() {
			s.formats = append(s.formats, string(skip()))
		}
		t.systems = append(t.systems, s)
	}
	t.tail = b[at:]
	return t
}

func (t *tracingData) bytes() []byte {
	out := le.AppendUint32(bytes.Clone(t.head), uint32(len(t.systems)))
	for _, s := range t.systems {
		out = le.AppendUint32(append(append(out, s.name...), 0), uint32(len(s.formats)))
		for _, f := range s.formats {
			out = append(le.AppendUint64(out, uint64(len(f))), f...)
		}
	}
	return append(out, t.tail...)
}

// onFormats makes a mutation that changes TRACING_DATA.
func onFormats(do func(d *damage, b []byte) []byte) func(*damage) bool {
	return onParts(func(d *damage, f *perfFile) bool {
		at := slices.IndexFunc(f.features, func(x feature) bool { return x.bit == featureTracing })
		if at < 0 {
			return false
		}
		changed := do(d, f.features[at].payload)
		f.features[at].payload = changed
		return changed != nil
	})
}

func cutFormats(d *damage, b []byte) []byte {
	t := parseTracing(b)
	at := d.IntN(len(b) - len(t.tail))
	d.did("", 0, "TRACING_DATA ends at %d of %d", at, len(b))
	return b[:at]
}

// formatsCount gives a count or a length in TRACING_DATA an unlikely value.
func formatsCount(d *damage, b []byte) []byte {
	t := parseTracing(b)
	b = bytes.Clone(b)
	at := []int{len(t.head)} // offsets of the counts and lengths
	next := len(t.head) + 4
	for _, s := range t.systems {
		next += len(s.name) + 1
		at = append(at, next)
		next += 4
		for _, f := range s.formats {
			at = append(at, next)
			next += 8 + len(f)
		}
	}
	k, v := pick(d, at), d.absurd()
	before := le.Uint32(b[k:])
	if le.PutUint32(b[k:], uint32(v)); uint32(v) == before {
		return nil
	}
	if k > len(t.head) && !slices.Contains(at[:1], k) && d.IntN(2) == 0 {
		le.PutUint32(b[k:], before)
		le.PutUint64(b[k:], v)
	}
	d.did("", 0, "the number at %d of TRACING_DATA is %#x instead of %#x", k, v, before)
	return b
}

// formatsByte changes a byte of the part that is not a description: mark, byte order, sizes.
func formatsByte(d *damage, b []byte) []byte {
	b = bytes.Clone(b)
	at := d.IntN(22)
	kind := ""
	if at > 10 { // the version, and the sizes of a long and a page
		kind = "format's text"
	}
	v := pick(d, []byte{0, 1, 4, 8, 0x7f, 0xff, 'x'})
	if v == b[at] {
		return nil
	}
	d.did(kind, 0, "byte %d of TRACING_DATA is %#x instead of %#x", at, v, b[at])
	b[at] = v
	return b
}

var (
	fieldLine = regexp.MustCompile(`(?m)^\tfield:.*$`)
	strange   = []string{
		"\tfield:int x;\toffset:%d;\tsize:0;\tsigned:1;", "\tfield:int x;\toffset:%d;\tsize:3;\tsigned:1;", "\tfield:int x;\toffset:%d;\tsize:2147483648;\tsigned:1;",
		"\tfield:int x;\toffset:%d;\tsize:-1;\tsigned:1;", "\tfield:int x;\toffset:65535;\tsize:4;\tsigned:1;", "\tfield:int x;\toffset:-4;\tsize:4;\tsigned:1;",
		"\tfield:char x[1073741824];\toffset:%d;\tsize:1073741824;\tsigned:1;", "\tfield:char x[0];\toffset:%d;\tsize:4;\tsigned:1;", "\tfield:u64 x[2147483648];\toffset:%d;\tsize:8;\tsigned:0;",
		"\tfield:char x[];\toffset:%d;\tsize:4;\tsigned:1;", "\tfield:__data_loc char[] x;\toffset:%d;\tsize:4;\tsigned:0;", "\tfield:__data_loc char[] x;\toffset:%d;\tsize:8;\tsigned:0;",
		"\tfield:__rel_loc char[] x;\toffset:%d;\tsize:4;\tsigned:0;", "\tfield:__data_loc x;\toffset:%d;\tsize:4;\tsigned:0;", "\tfield:;\toffset:%d;\tsize:4;\tsigned:0;", "\tfield:int;\toffset:%d;\tsize:4;\tsigned:0;",
		"\tfield:struct { int a; } x;\toffset:%d;\tsize:4;\tsigned:0;", "\tfield:void (*x)(int);\toffset:%d;\tsize:8;\tsigned:0;", "\tfield:int x'\"\x00\xff\x1b[31m;\toffset:%d;\tsize:4;\tsigned:0;",
		"\tfield:int common_pid;\toffset:%d;\tsize:4;\tsigned:0;", "\tfield:pid_t prev_pid;\toffset:%d;\tsize:4;\tsigned:1;", "\tfield:char x[16];\toffset:0;\tsize:65536;\tsigned:0;",
	}
)

// formatsField gives a field of a description a strange line.
func formatsField(d *damage, b []byte) []byte {
	return editFormat(d, b, func(text string) string {
		lines := fieldLine.FindAllStringIndex(text, -1)
		if len(lines) == 0 {
			return text
		}
		l := pick(d, lines)
		var off int
		fmt.Sscanf(text[strings.Index(text[l[0]:], "offset:")+l[0]:], "offset:%d", &off)
		line := pick(d, strange)
		if strings.Contains(line, "%d") {
			line = fmt.Sprintf(line, off)
		}
		kind := "format's text"
		if strings.Contains(line, "-") || strings.Contains(line, "size:2147483648") {
			kind = ""
		}
		d.did(kind, 0, "a line of a description is %.70q instead of %.70q", line, text[l[0]:l[1]])
		return text[:l[0]] + line + text[l[1]:]
	})
}

// formatsLine takes out a line of a description, doubles it, or changes a byte of it.
func formatsLine(d *damage, b []byte) []byte {
	return editFormat(d, b, func(text string) string {
		lines := strings.SplitAfter(text, "\n")
		at := d.IntN(len(lines))
		shown := lines[at]
		kind := "format's text"
		if strings.HasPrefix(shown, "name:") || strings.HasPrefix(shown, "ID:") {
			kind = ""
		}
		switch d.IntN(3) {
		case 0:
			lines = slices.Delete(lines, at, at+1)
		case 1:
			lines = slices.Insert(lines, at, lines[at])
			kind = "format's text"
		default:
			if len(shown) < 2 {
				return text
			}
			k := d.IntN(len(shown) - 1)
			lines[at] = shown[:k] + string([]byte{byte(d.Uint32())}) + shown[k+1:]
			kind = "format's text"
		}
		d.did(kind, 0, "line %d of a description is changed: %.70q", at, shown)
		return strings.Join(lines, "")
	})
}

// formatsID gives a description the id of another one.
func formatsID(d *damage, b []byte) []byte {
	t := parseTracing(b)
	var ids []string
	id := regexp.MustCompile(`(?m)^ID: (\d+)$`)
	for _, s := range t.systems {
		for _, f := range s.formats {
			if m := id.FindStringSubmatch(f); m != nil {
				ids = append(ids, m[1])
			}
		}
	}
	if len(ids) < 2 {
		return nil
	}
	s := &t.systems[d.IntN(len(t.systems))]
	k := d.IntN(len(s.formats))
	other := pick(d, ids)
	changed := id.ReplaceAllString(s.formats[k], "ID: "+other)
	if changed == s.formats[k] {
		return nil
	}
	s.formats[k] = changed
	d.did("", 0, "a description of %s has the id %s", s.name, other)
	return t.bytes()
}

func editFormat(d *damage, b []byte, edit func(string) string) []byte {
	t := parseTracing(b)
	s := &t.systems[d.IntN(len(t.systems))]
	k := d.IntN(len(s.formats))
	changed := edit(s.formats[k])
	if changed == s.formats[k] {
		return nil
	}
	s.formats[k] = changed
	return t.bytes()
}

// attrOf returns the offset in head of the attribute of a record; the first if it has no id.
func (f *perfFile) attrOf(r []byte) int {
	const identifier = 1 << 16
	if len(f.attrs) == 0 || f.sampleType()&identifier == 0 || len(r) < 24 {
		return f.attrs[0]
	}
	id := le.Uint64(r[len(r)-8:])
	if typeOf(r) == recordSample {
		id = le.Uint64(r[8:])
	}
	size := int(le.Uint64(f.head[attrSizeAt:]))
	for _, a := range f.attrs {
		ids := f.head[le.Uint64(f.head[a+size-16:]):][:le.Uint64(f.head[a+size-8:])]
		for ; len(ids) > 0; ids = ids[8:] {
			if le.Uint64(ids) == id {
				return a
			}
		}
	}
	return f.attrs[0]
}

// rawAt returns the offset of the size of a sample's own data, 0 if it has none.
func (f *perfFile) rawAt(r []byte) int {
	set := le.Uint64(f.head[f.attrOf(r)+24:])
	if set>>10&1 == 0 || set>>4&1 == 1 {
		return 0
	}
	at := 8
	for _, bit := range []int{16, 0, 1, 2, 3, 6, 9, 7, 8} {
		at += 8 * int(set>>bit&1)
	}
	if set>>5&1 == 1 {
		at += 8 + 8*int(le.Uint64(r[at:]))
	}
	return at
}

// pickRaw returns a random sample with data of its own, and their offset.
func (f *perfFile) pickRaw(d *damage) (n, at int) {
	if len(f.attrs) == 0 {
		return -1, 0
	}
	list := slices.DeleteFunc(f.of(recordSample), func(n int) bool { return f.rawAt(f.records[n]) == 0 })
	if len(list) == 0 {
		return -1, 0
	}
	n = pick(d, list)
	f.records[n] = bytes.Clone(f.records[n])
	return n, f.rawAt(f.records[n])
}

func rawSize(d *damage, f *perfFile) bool {
	n, at := f.pickRaw(d)
	if n < 0 {
		return false
	}
	r := f.records[n]
	size := le.Uint32(r[at:])
	v := uint32(d.absurd())
	if d.IntN(2) == 0 { // the record changes with it
		v = uint32(pick(d, []int{4, 12, 20, 28, 36, int(size) + 8, int(size) + 64, int(size) + 4096}))
		if len(r)-at-4-int(size) != 0 || v >= size && at+4+int(v) > 60000 {
			return false
		}
		r = append(r[:at+4:at+4], append(r[at+4:at+4+int(min(size, v))], make([]byte, max(0, int(v)-int(size)))...)...)
		le.PutUint16(r[6:], uint16(len(r)))
		f.records[n] = r
	}
	if v == size {
		return false
	}
	kind := ""
	if v > size && len(r) == at+4+int(v) {
		kind = "record's value"
	}
	le.PutUint32(r[at:], v)
	return d.did(kind, 1, "sample %d has %d bytes of its own instead of %d", n, v, size)
}

func rawBytes(d *damage, f *perfFile) bool {
	n, at := f.pickRaw(d)
	if n < 0 {
		return false
	}
	r := f.records[n]
	own := r[at+4:][:le.Uint32(r[at:])]
	for range 1 + d.IntN(6) {
		k := d.IntN(len(own))
		if d.IntN(2) == 0 && len(own) >= 4 {
			le.PutUint32(own[min(k&^3, len(own)-4):], uint32(d.absurd()))
		} else {
			own[k] = byte(d.Uint32())
		}
	}
	return d.did("record's value", 1, "bytes of sample %d's own data are others", n)
}

// switches returns the switch records and the samples with data of their own.
func (f *perfFile) switches() []int {
	return slices.DeleteFunc(f.of(recordSwitch, recordSwitchCPUWide, recordSample), func(n int) bool {
		return len(f.attrs) == 0 || typeOf(f.records[n]) == recordSample && f.rawAt(f.records[n]) == 0
	})
}

func dropSwitches(d *damage, f *perfFile) bool {
	n := 1 + d.IntN(4)
	for range n {
		list := f.switches()
		if len(list) == 0 {
			return false
		}
		at := pick(d, list)
		f.records = slices.Delete(f.records, at, at+1)
	}
	return d.did("record dropped", n, "%d records of switches are taken out", n)
}

func doubleSwitches(d *damage, f *perfFile) bool {
	n := 1 + d.IntN(4)
	for range n {
		list := f.switches()
		if len(list) == 0 {
			return false
		}
		f.records = slices.Insert(f.records, d.IntN(len(f.records)), f.records[pick(d, list)])
	}
	return d.did("record doubled", n, "%d records of switches are there twice", n)
}

// trailerFields returns the fields of a record's trailer.
func (f *perfFile) trailerFields(r []byte) (list []sampleField) {
	set := le.Uint64(f.head[f.attrOf(r)+24:])
	at := len(r) - 8*trailerWords(set)
	add := func(bit int, fields ...sampleField) {
		if set>>bit&1 == 1 {
			for _, x := range fields {
				list = append(list, sampleField{x.name, at + x.off, x.len})
			}
			at += 8
		}
	}
	add(1, sampleField{"pid", 0, 4}, sampleField{"tid", 4, 4})
	add(2, sampleField{"time", 0, 8})
	add(6, sampleField{"id", 0, 8})
	add(9, sampleField{"stream", 0, 8})
	add(7, sampleField{"cpu", 0, 4})
	add(16, sampleField{"identifier", 0, 8})
	return list
}

// switchValue gives a field of a switch record an unlikely value.
func switchValue(d *damage, f *perfFile) bool {
	list := f.of(recordSwitch, recordSwitchCPUWide)
	if len(list) == 0 || len(f.attrs) == 0 {
		return false
	}
	at := pick(d, list)
	r := bytes.Clone(f.records[at])
	fields := f.trailerFields(r)
	if typeOf(r) == recordSwitchCPUWide {
		fields = append(fields, sampleField{"other pid", 8, 4}, sampleField{"other tid", 12, 4})
	}
	if len(fields) == 0 {
		return false
	}
	x, v := pick(d, fields), d.absurd()
	switch d.IntN(3) {
	case 0:
		v = uint64(pick(d, []int64{-1, 0, math.MaxInt32, math.MinInt32, 1, -2}))
	case 1: // the value of another record
		other := f.records[pick(d, list)]
		v = le.Uint64(other[min(x.off, len(other)-8):])
	}
	x.put(r, v)
	f.records[at] = r
	return d.did("record's time", 1, "%s of switch record %d is %#x", x.name, at, v)
}

func cutSwitch(d *damage, f *perfFile) bool {
	list := f.of(recordSwitch, recordSwitchCPUWide)
	if len(list) == 0 {
		return false
	}
	at := pick(d, list)
	r := f.records[at]
	n := 8 * d.IntN(len(r)/8-1)
	f.records[at] = record(typeOf(r), int(le.Uint16(r[4:])), r[8:8+n])
	return d.did("", 1, "switch record %d has %d bytes instead of %d", at, n, len(r)-8)
}

// switchOrder moves switch records to other places of the file. Nothing must change.
func switchOrder(d *damage, f *perfFile) bool {
	list := f.of(recordSwitch, recordSwitchCPUWide)
	if len(list) < 2 || len(f.of(recordLost)) > 0 {
		return false
	}
	for range 1 + d.IntN(20) {
		from := pick(d, f.of(recordSwitch, recordSwitchCPUWide))
		r := f.records[from]
		f.records = slices.Delete(f.records, from, from+1)
		f.records = slices.Insert(f.records, d.IntN(len(f.records)+1), r)
	}
	return d.did("", 0, "switch records are at other places")
}

// changeLives takes out, doubles or moves records of forks, exits and names, or gives them the ids
// of others.
func changeLives(d *damage, f *perfFile) bool {
	for range 1 + d.IntN(3) {
		list := f.of(recordFork, recordExit, recordComm)
		if len(list) == 0 {
			return false
		}
		at := pick(d, list)
		r := bytes.Clone(f.records[at])
		switch d.IntN(4) {
		case 0:
			f.records = slices.Delete(f.records, at, at+1)
		case 1:
			f.records = slices.Insert(f.records, d.IntN(len(f.records)), r)
		case 2:
			other := f.records[pick(d, list)]
			copy(r[8:16], other[8:16])
			f.records[at] = r
		default:
			x := pick(d, sideFields[typeOf(r)])
			x.put(r, d.absurd())
			f.records[at] = r
		}
	}
	return d.did("lives of threads", 0, "records of forks, exits and names are taken out, doubled or changed")
}

// reuseThread gives switch records of one thread the id of another one.
func reuseThread(d *damage, f *perfFile) bool {
	list := f.of(recordSwitch)
	if len(list) < 4 || len(f.attrs) == 0 {
		return false
	}
	tid := func(r []byte) []byte {
		for _, x := range f.trailerFields(r) {
			if x.name == "tid" {
				return r[x.off:]
			}
		}
		return nil
	}
	one, two := tid(f.records[pick(d, list)]), tid(f.records[pick(d, list)])
	if one == nil || le.Uint32(one) == le.Uint32(two) {
		return false
	}
	from, to, n := le.Uint32(one), le.Uint32(two), 0
	for _, at := range list {
		if r := bytes.Clone(f.records[at]); le.Uint32(tid(r)) == from {
			le.PutUint32(tid(r), to)
			f.records[at] = r
			n++
		}
	}
	return d.did("record's value", n, "thread %d has the id %d in %d switch records", from, to, n)
}

func insertLost(d *damage, f *perfFile) bool {
	list := f.of(recordSwitch, recordSwitchCPUWide, recordComm)
	if len(list) == 0 || len(f.attrs) == 0 {
		return false
	}
	r := f.records[pick(d, list)]
	trailer := r[len(r)-8*trailerWords(le.Uint64(f.head[f.attrOf(r)+24:])):]
	n := d.absurd()
	body := le.AppendUint64(le.AppendUint64(nil, d.absurd()), n)
	at := d.IntN(len(f.records))
	f.records = slices.Insert(f.records, at, record(recordLost, 0, append(body, trailer...)))
	kind := ""
	if n == 0 {
		kind = "lost nothing"
	}
	return d.did(kind, 0, "record %d says that %d records were lost", at, n)
}

// changeIDIndex changes or takes out the list of counters.
func changeIDIndex(d *damage, f *perfFile) bool {
	list := f.of(recordIDIndex)
	if len(list) == 0 {
		return false
	}
	at := pick(d, list)
	if d.IntN(4) == 0 {
		f.records = slices.Delete(f.records, at, at+1)
		return d.did("counters", 0, "ID_INDEX is taken out")
	}
	r := bytes.Clone(f.records[at])
	for range 1 + d.IntN(3) {
		le.PutUint64(r[8+8*d.IntN(len(r)/8-1):], d.absurd())
	}
	f.records[at] = r
	return d.did("counters", 0, "words of ID_INDEX are others")
}
