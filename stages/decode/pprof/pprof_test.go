package pprof

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"google.golang.org/protobuf/encoding/protowire"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// builder makes profiles field by field.
type builder []byte

func (b *builder) number(field protowire.Number, v uint64) *builder {
	*b = protowire.AppendVarint(protowire.AppendTag(*b, field, protowire.VarintType), v)
	return b
}

func (b *builder) bytes(field protowire.Number, data []byte) *builder {
	*b = protowire.AppendBytes(protowire.AppendTag(*b, field, protowire.BytesType), data)
	return b
}

// message is a message of numbers, in fields from 1 on. It leaves out zeros.
func message(values ...uint64) []byte {
	var b builder
	for i, v := range values {
		if v != 0 {
			b.number(protowire.Number(i+1), v)
		}
	}
	return b
}

func packed(values ...uint64) (b []byte) {
	for _, v := range values {
		b = protowire.AppendVarint(b, v)
	}
	return b
}

func packedWords(words ...uint64) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// The strings of the profiles below.
var texts = []string{"", "cpu", "milliseconds", "main", "a.c", "inlined", "/bin/app", "key", "text", "weight", "kilobytes"}

// sample is a sample's message.
func sample(locations, values []byte, labels ...[]byte) []byte {
	var b builder
	b.bytes(sampleLocation, locations).bytes(sampleValue, values)
	for _, l := range labels {
		b.bytes(sampleLabel, l)
	}
	return b
}

// locationMessage is a location's message with lines of functions.
func locationMessage(id, mapping, address uint64, lines ...[]byte) []byte {
	b := builder(message(id, mapping, address))
	for _, l := range lines {
		b.bytes(4, l)
	}
	return b
}

// example returns a profile with one sample of each sort. more replaces fields of it, or adds some.
func example(more ...func(*builder)) []byte {
	var b builder
	b.bytes(fieldSampleType, message(1, 2)).bytes(fieldSampleType, message(1))
	b.bytes(fieldMapping, message(1, 0x1000, 0x2000, 0x100, 6))
	b.bytes(fieldFunction, message(1, 3, 3, 4)).bytes(fieldFunction, message(2, 5, 0, 4)).bytes(fieldFunction, message(3))
	b.bytes(fieldLocation, locationMessage(1, 1, 0x1010, message(2, 7), message(1, 20)))
	b.bytes(fieldLocation, locationMessage(2, 1, 0x1020))
	b.bytes(fieldLocation, locationMessage(3, 0, 0x77, message(3, math.MaxUint64)))
	b.bytes(fieldSample, sample(packed(1, 2), packed(5, 1), message(7, 8), message(9, 0, 3, 10), message(7, 0, 4)))
	b.bytes(fieldSample, sample(packed(3), packed(0, 1)))
	b.bytes(fieldSample, sample(nil, packed(math.MaxUint64, math.MaxInt64)))
	for _, s := range texts {
		b.bytes(fieldString, []byte(s))
	}
	b.number(fieldTime, 1e18).number(fieldDuration, 2e9)
	for _, f := range more {
		f(&b)
	}
	return b
}

// open reads a profile from a file.
func open(t testing.TB, name string, content []byte) *decode.Recording {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return New().Open(context.Background(), path)
}

// shown returns a whole recording as text: stacks, then events.
func shown(rec *decode.Recording) string {
	var b strings.Builder
	for _, p := range rec.Problems.Problems {
		fmt.Fprintf(&b, "%s x%d\n", p, p.Count)
	}
	if len(rec.Processes) == 0 {
		return b.String()
	}
	p := rec.Processes[0]
	fmt.Fprintf(&b, "%s %v %d %+v\n", p.Target, rec.Started, p.DurationNS, p.Counters)
	for i, s := range p.Stacks.Expanded() {
		fmt.Fprintf(&b, "stack %d %s:", i, s.Reason)
		for _, w := range s.Words[:min(len(s.Words), 5)] {
			fmt.Fprintf(&b, " %s", named(p.Mappings, w))
		}
		fmt.Fprintf(&b, ", %d frames\n", len(s.Words))
	}
	events := p.Events(schema.Pprof)
	defer events.Close()
	for {
		batch, err := events.Next()
		if batch == nil {
			if err != nil {
				fmt.Fprintln(&b, err)
			}
			return b.String()
		}
		e := schema.Events{RecordBatch: batch}
		for i, v := range e.Int64s("value") {
			fmt.Fprintf(&b, "stack %d type %d value %d %s\n", e.Int32s("raw_stack")[i], e.Int32s("type")[i], v, e.Column("labels").(*array.String).Value(i))
		}
		batch.Release()
	}
}

// named returns the load object and offset of a word, and its function with the inlined ones.
func named(image []decode.MapEvent, word uint64) string {
	for _, m := range image {
		if n := m.Code.Symbols; word-m.Address < uint64(len(n.Locations)) {
			at := n.Locations[word-m.Address]
			s := fmt.Sprintf("[%s %s", m.Path, m.BuildID)
			if at.Offset < decode.NoFileOffset {
				s += fmt.Sprintf("+%#x", at.Offset)
			}
			for _, l := range at.Lines {
				f := n.Functions[l.Function]
				s += fmt.Sprintf(" %s(%s) %s from %d:%d", f.Name, f.Linkage, f.File, f.Line, l.Line)
			}
			return s + "]"
		}
	}
	return "nothing"
}

func TestProfile(t *testing.T) {
	want := `info: .: line numbers are impossible: these lines count as unknown x1
info: .: locations have addresses but no functions: ` + "`go tool pprof -proto PROGRAM FILE > FILE.pb.gz`" + ` may add the names x1
app 2001-09-09 01:46:40 +0000 UTC 2000000000 [{Tag:0 Name:cpu Title:cpu TimeUnit:true Unit:ns Interval:0 Trigger:0 Preferred:false} {Tag:1 Name:cpu_2 Title:cpu_2 TimeUnit:false Unit: Interval:0 Trigger:0 Preferred:true}]
stack 0 : [/bin/app +0x110 main(main) a.c from 0:20 inlined(inlined) a.c from 0:7] [/bin/app +0x120 <static>@0x100()  from 0:0], 2 frames
stack 1 : [ +0x77 <function 3>(<function 3>)  from 0:0], 1 frames
stack 2 missing-stack:, 0 frames
stack 0 type 0 value 5000000 {"key":["text",4],"weight":{"num":3,"unit":"kilobytes"}}
stack 0 type 1 value 1 {"key":["text",4],"weight":{"num":3,"unit":"kilobytes"}}
stack 1 type 1 value 1 {}
stack 2 type 0 value -1000000 {}
stack 2 type 1 value 9223372036854775807 {}
`
	for _, compressed := range []bool{false, true} {
		content := example()
		if compressed {
			content = zipped(content)
		}
		if got := shown(open(t, "x", content)); got != want {
			t.Errorf("compressed %t: got\n%s\nwant\n%s", compressed, got, want)
		}
	}
}

func zipped(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	return b.Bytes()
}

// A value that exceeds 64 bits in the metric's unit is reported and left out, alone.
func TestTooLargeValue(t *testing.T) {
	got := shown(open(t, "x", example(func(b *builder) {
		b.bytes(fieldSample, sample(packed(1), packed(1<<62, 3)))
	})))
	for _, want := range []string{"error: .: values are left out: in the metric's unit they need more than 64 bits x1\n", "stack 3 type 1 value 3 {}\n"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "stack 3 type 0") {
		t.Error(got)
	}
}

// Each sample type is a metric of its own, whatever its name.
func TestTypeNames(t *testing.T) {
	for want, types := range map[string][]string{
		"cpu cpu_3 cpu_2":       {"cpu", "cpu", "cpu_2"},
		"cpu_2 cpu cpu_3":       {"cpu_2", "cpu", "cpu"},
		"value value_2 value_3": {"", "value", ""},
	} {
		var b builder
		b.bytes(fieldString, nil)
		var values []uint64
		for i, name := range types {
			b.bytes(fieldSampleType, message(uint64(i+1))).bytes(fieldString, []byte(name))
			values = append(values, 1)
		}
		b.bytes(fieldSample, sample(nil, packed(values...)))
		var got []string
		for _, c := range open(t, "x", b).Processes[0].Counters {
			got = append(got, c.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", types, got, want)
		}
	}
}

// Units that pprof knows become those of metrics, however they are written; others stay as they are.
func TestUnits(t *testing.T) {
	for name, want := range map[string]string{
		"nanoseconds": "ns 1", "Nanosecond": "ns 1", "ns": "ns 1", "µs": "ns 1000", "microseconds": "ns 1000", "MS": "ns 1000000", "s": "ns 1000000000", "secs": "ns 1000000000", "hours": "ns 3600000000000",
		"byte": "bytes 1", "B": "bytes 1", "KB": "bytes 1024", "kbytes": "bytes 1024", "gigabytes": "bytes 1073741824", "pb": "bytes 1125899906842624",
		"count": " 1", "Counts": " 1", "objects": "objects 1", "cycles": "cycles 1", "GCU": "GCU 1", "": " 1", "ss": "ss 1",
	} {
		var v valueType
		v.setUnit(name)
		if got := fmt.Sprintf("%s %d", v.metricUnit, v.factor); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A location is one frame. Locations differ in their offset or in their names.
func TestPlaces(t *testing.T) {
	var b builder
	b.bytes(fieldSampleType, message(1))
	b.bytes(fieldMapping, message(1, 0x1000, 0x2000, 0, 6, 7)).bytes(fieldMapping, message(2, 0x3000, 0x4000, 0x5000, 0, 7))
	b.bytes(fieldFunction, message(1, 3, 5, 4, 9)).bytes(fieldFunction, message(2, 8)).bytes(fieldFunction, message(3, 10))
	b.bytes(fieldLocation, locationMessage(1, 1, 0x1010, message(1, 11)))
	b.bytes(fieldLocation, locationMessage(2, 1, 0x1010, message(2, 1), message(1, 11))) // the same address, something inlined
	b.bytes(fieldLocation, locationMessage(3, 1, 0x9010, message(1, 11)))                // outside of the mapping
	b.bytes(fieldLocation, locationMessage(4, 1, 0, message(1, 11)))                     // the same
	b.bytes(fieldLocation, locationMessage(5, 2, 0x3010, message(2, 1)))
	b.bytes(fieldLocation, locationMessage(6, 0, 0, message(3))).bytes(fieldLocation, locationMessage(7, 9, 0x77))
	b.bytes(fieldSample, sample(packed(1, 2, 3, 4, 5), packed(1)))
	b.bytes(fieldSample, sample(packed(6), packed(1))).bytes(fieldSample, sample(packed(6, 7), packed(1)))
	for _, s := range append(texts[:10:10], "<no stack>") {
		b.bytes(fieldString, []byte(s))
	}
	rec := open(t, "x", b)
	got := shown(rec)
	for _, want := range []string{
		"stack 0 : [/bin/app key+0x10 main(inlined) a.c from 9:11] [/bin/app key main(inlined) a.c from 9:11 text(text)  from 0:1]" +
			" [/bin/app key main(inlined) a.c from 9:11] [/bin/app key main(inlined) a.c from 9:11] [[key] key+0x5010 text(text)  from 0:1], 5 frames\n",
		"stack 1 missing-stack:, 0 frames\n", // as exported
		"stack 2 : [  <no stack>(<no stack>)  from 0:0] [ +0x77 <Unknown>()  from 0:0], 2 frames\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %sin\n%s", want, got)
		}
	}
	loaded := 0
	for _, m := range rec.Processes[0].Mappings {
		if len(m.Code.Symbols.Locations) == 0 {
			loaded++
		}
	}
	if loaded != 2 {
		t.Errorf("%d mappings", loaded)
	}
}

// A profile names its default type, and has comments.
func TestAbout(t *testing.T) {
	rec := open(t, "x", example(func(b *builder) {
		b.number(fieldDefaultType, 1).bytes(fieldComment, packed(8, 7)).number(fieldDocURL, 6)
	}))
	if rec.Comment != "text\nkey\n/bin/app" || !rec.Processes[0].Counters[0].Preferred || rec.Processes[0].Counters[1].Preferred {
		t.Errorf("%q %+v", rec.Comment, rec.Processes[0].Counters)
	}
}

// A problem says what cannot be read, and nothing is read in part.
func TestUnreadable(t *testing.T) {
	field := func(n protowire.Number, data []byte) func(*builder) { return func(b *builder) { b.bytes(n, data) } }
	whole := example()
	for want, content := range map[string][]byte{
		"there is no location 9":                                example(field(fieldSample, sample(packed(9), packed(1, 1)))),
		"sample 3 has 1 values for 2 types":                     example(field(fieldSample, sample(packed(1), packed(1)))),
		"there is no function 9":                                example(field(fieldLocation, locationMessage(9, 0, 0, message(9))), field(fieldSample, sample(packed(9), packed(1, 1)))),
		"location 1 occurs twice, or its id is 0":               example(field(fieldLocation, locationMessage(1, 0, 0))),
		"function 0 occurs twice, or its id is 0":               example(field(fieldFunction, nil)),
		"mapping 1 occurs twice, or its id is 0":                example(field(fieldMapping, message(1))),
		"a sample type has no name":                             example(field(fieldSampleType, message(99))),
		"a function: a string index is out of range":            example(field(fieldFunction, message(9, 3, 3, 11))),
		"the mapping at 0x9000: a string index":                 example(field(fieldMapping, message(9, 0x9000, 0xa000, 0, 3, 11))),
		"the profile's comments or settings: a string index":    example(field(fieldComment, packed(3, math.MaxUint64))),
		"sample 3: a label: a string index is out of range":     example(field(fieldSample, sample(packed(1), packed(1, 1), message(7, 11)))),
		"text 11 has more than 1048576 bytes":                   example(field(fieldString, make([]byte, maxText+1))),
		"the profile has no sample types":                       message(0, 0, 0, 0, 0, 0, 0, 0, 1),
		"field 9 has the wrong type":                            example(field(fieldTime, nil)),
		"unexpected EOF":                                        whole[:len(whole)-1],
		"it has more than 64 sample types":                      bytes.Repeat(example()[:2+len(message(1, 2))], 65),
		"its first string is not empty":                         example()[:0:0],
		"it is in a format that pprof had before profile.proto": []byte("--- heapz 1 ---\n0 0 @ 0\n"),
		"at byte": []byte("some text that is no profile"),
	} {
		if want == "its first string is not empty" {
			var b builder
			content = *b.bytes(fieldString, []byte("x"))
		}
		rec := open(t, "x.pprof", content)
		if got := shown(rec); !strings.Contains(got, want) || len(rec.Processes) != 0 {
			t.Errorf("%s: %d processes, %s", want, len(rec.Processes), got)
		}
	}
	if got := shown(open(t, "x.pb.gz", zipped(whole)[:30])); !strings.Contains(got, "unexpected EOF") {
		t.Errorf("a cut file: %s", got)
	}
}

// A small file can expand to a large profile: a long text of zeros, and stacks of many frames.
func TestBombs(t *testing.T) {
	if got := shown(open(t, "x", zipped(make([]byte, maxProfile+1)))); !strings.Contains(got, "it has more than 256 MiB, decompressed") {
		t.Error(got)
	}
	lines := make([][]byte, 1000)
	for i := range lines {
		lines[i] = message(1, uint64(i))
	}
	got := shown(open(t, "x", example(func(b *builder) {
		b.bytes(fieldLocation, locationMessage(9, 0, 0, lines...))
		b.bytes(fieldSample, sample(bytes.Repeat(packed(9), 1<<20), packed(1, 1)))
	})))
	if !strings.Contains(got, "warning: .: stacks have more than 65536 frames: the outermost are missing x1") || !strings.Contains(got, "warning: .: locations have more than 256 inlined functions: the innermost are shown as one, <Truncated-inline-chain> x1") || !strings.Contains(got, " <Truncated-inline-chain>(<Truncated-inline-chain>)  from 0:0]") || !strings.Contains(got, ", 65536 frames") {
		t.Error(got[:min(len(got), 2000)])
	}
}

// Profiles are recognized by their beginning.
func TestDetect(t *testing.T) {
	for name, c := range map[string]struct {
		content []byte
		want    bool
	}{
		"profile": {example(), true}, "compressed": {zipped(example()), true}, "cut": {zipped(example())[:len(zipped(example()))-10], true},
		"text": {[]byte("\n\nsome text\n"), false}, "nothing": {nil, false}, "compressed text": {zipped([]byte("\n\nsome text\n")), false},
		"an empty type first": {append(builder{0x0a, 0}, example()...), true}, "texts first": {textsFirst(), true}, "Java": {packedWords(0, 3, 1, 10000, 0, 1), true},
		"with symbols": {[]byte("--- symbol\nbinary=x\n"), true},
		"no gzip":      {gzipMagic, false}, "strings alone": {*new(builder).bytes(fieldString, nil), false}, "perf": {[]byte("PERFILE2 and more"), false},
		"gperftools": {packedWords(0, 3, 0, 10000, 0, 1), true}, "old text": {[]byte("--- contentionz 1 ---"), true}, "zeros": {make([]byte, 100), false},
		"json": {[]byte("{\"a\": 1}"), false},
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, c.content, 0o644); err != nil {
			t.Fatal(err)
		}
		if got := New().Detect(path); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if d := New(); d.Detect(t.TempDir()) || d.Detect("nowhere") || !d.LooksLike("/x/cpu.pb.gz") || d.LooksLike("/x/log.gz") {
		t.Error("what is no file, or named otherwise")
	}
}

// textsFirst is a profile whose texts come first, and are longer than the part that detect reads.
func textsFirst() []byte {
	var b builder
	for range 64 {
		b.bytes(fieldString, make([]byte, 4<<10))
	}
	return append(b, example()...)
}

// FuzzProfile reads damaged profiles: without panics, and events agree with stacks.
func FuzzProfile(f *testing.F) {
	f.Add([]byte(example()))
	for _, name := range []string{"cpu.pb.gz", "heap.pb.gz"} {
		content, err := read(context.Background(), filepath.Join("../../../testdata/pprof", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		rec := &decode.Recording{}
		if err := fill(t.Context(), rec, content); err != nil || len(rec.Processes) == 0 {
			return
		}
		p := rec.Processes[0]
		events := p.Events(schema.Pprof)
		for {
			batch, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			if batch == nil {
				break
			}
			e := schema.Events{RecordBatch: batch}
			for i, n := range e.Int32s("raw_stack") {
				if int(n) >= p.Stacks.Len() || int(e.Int32s("type")[i]) >= len(p.Counters) || e.Int64s("value")[i] == 0 {
					t.Fatalf("event %d: stack %d, type %d", i, n, e.Int32s("type")[i])
				}
			}
			if batch.NumRows() > schema.BatchRows {
				t.Fatalf("%d rows", batch.NumRows())
			}
			batch.Release()
		}
	})
}
