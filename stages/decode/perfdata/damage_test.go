package perfdata

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// Cut records and features are reported.
func TestCutFields(t *testing.T) {
	for _, tt := range []struct {
		name     string
		build    func(*builder)
		reason   string
		severity diagnostic.Severity
	}{
		{"a mapping", func(b *builder) { b.record(recordMmap, miscUser, uint32(5), uint32(5), 0x1000) }, "bad-record", diagnostic.Error},
		{"a control group", func(b *builder) { b.record(recordCGroup, 0, uint32(5)) }, "bad-record", diagnostic.Error},
		{"a fork", func(b *builder) { b.record(recordFork, 0, uint32(5)) }, "bad-record", diagnostic.Error},
		{"the name of a host", func(b *builder) {
			b.features = append(b.features, testFeature{featureHostname, b.words(uint32(100), uint32(0))})
		}, "bad-feature", diagnostic.Warning},
		{"NULs in the name of an event", func(b *builder) {
			b.features = append(b.features, testFeature{featureEventDesc, b.words(uint32(1), uint32(0), uint32(0), uint32(16), "cpu-cl\x00\x00k:u")})
		}, "bad-feature", diagnostic.Warning},
		{"a build-id", func(b *builder) {
			b.features = append(b.features, testFeature{featureBuildID, b.words(uint32(0), uint16(0), uint16(200), 0)})
		}, "bad-feature", diagnostic.Warning},
	} {
		b := recording(binary.LittleEndian)
		tt.build(b)
		found := false
		for _, p := range openFile(t, b.file()).Problems.Problems {
			found = found || p.Reason == tt.reason && p.Severity == tt.severity
		}
		if !found {
			t.Errorf("%s: not told", tt.name)
		}
	}
}

// Two events with one id cannot be distinguished.
func TestSharedIDs(t *testing.T) {
	r := &reader{recordParser: recordParser{byID: map[uint64]int32{}}}
	r.rec = openFile(t, recording(binary.LittleEndian).file())
	r.addEvent(attr{}, []uint64{7, 8})
	if len(r.rec.Problems.Problems) > 0 {
		t.Error(r.rec.Problems.Problems)
	}
	r.addEvent(attr{}, []uint64{9, 8})
	if reasonsOf(r.rec)["bad-attributes"] != 1 {
		t.Error(r.rec.Problems.Problems)
	}
}

// A wall-clock time that overflows is left out and reported.
func TestWallClockOverflow(t *testing.T) {
	b := recording(binary.LittleEndian)
	b.features = append(b.features, testFeature{featureClockData, b.words(uint32(1), uint32(0), math.MaxInt64-1, 0)})
	rec := openFile(t, b.file())
	if !rec.Started.IsZero() || reasonsOf(rec)["bad-time"] != 1 {
		t.Error(rec.Started, rec.Problems.Problems)
	}
}

// If the ids of an event in EVENT_DESC differ from those in its attribute, its samples may be those
// of another event: a problem reports it.
func TestOtherIDs(t *testing.T) {
	for _, test := range []struct{ first, second, want int }{{7, 8, 0}, {7, 7, 1}, {8, 7, 2}, {7, 9, 1}} {
		r := &reader{recordParser: recordParser{byID: map[uint64]int32{}, rec: &decode.Recording{}}}
		r.addEvent(attr{}, []uint64{7})
		r.addEvent(attr{}, []uint64{8})
		b := &builder{order: binary.LittleEndian}
		desc := b.words(uint32(2), uint32(0))
		for _, id := range []int{test.first, test.second} {
			desc = append(desc, b.words(uint32(1), uint32(8), "event", id)...)
		}
		c := cursorOf(desc, false)
		r.eventNames(&c)
		if got := reasonsOf(r.rec)["bad-attributes"]; got != int64(test.want) {
			t.Errorf("ids %d and %d: %d warnings, want %d: %v", test.first, test.second, got, test.want, r.rec.Problems.Problems)
		}
	}
}

// Samples that are longer than their event's sample_type allows are reported, since they may be
// misread.
func TestLongSamples(t *testing.T) {
	content := recording(binary.LittleEndian).file()
	if found := reasonsOf(openFile(t, content)); found["long-sample"] != 0 {
		t.Fatal(found)
	}
	at := headerSize + 24 // sample_type
	binary.LittleEndian.PutUint64(content[at:], binary.LittleEndian.Uint64(content[at:])&^sampleCallchain)
	if found := reasonsOf(openFile(t, content)); found["long-sample"] != 5 {
		t.Error(found)
	}
}

// A sample whose record type was damaged is reported: its size is wrong for the type.
func TestOddRecords(t *testing.T) {
	for typ := range uint32(128) {
		content := recording(binary.LittleEndian).file()
		at := bytes.Index(content, []byte{recordSample, 0, 0, 0, miscUser, 0})
		binary.LittleEndian.PutUint32(content[at:], typ)
		told := false
		for _, p := range openFile(t, content).Problems.Problems {
			told = told || p.Severity >= diagnostic.Warning && p.Reason != "stack-without-context"
		}
		_, fixed := fixedSizes[typ]
		known := fixed || typ == recordRead || typ == recordThreadMap || typ == 0 || typ > recordKernelKnown && typ < recordTool || typ > recordToolKnown
		if known && !told {
			t.Errorf("a sample becomes a record of type %d, which nothing tells", typ)
		}
	}
	b := recording(binary.LittleEndian)
	trailer := []any{uint32(10), uint32(10), 5000}
	b.record(recordUnthrottle, 0, append([]any{5000, 1, 1}, trailer...)...)
	b.record(recordRead, 0, append([]any{uint32(10), uint32(10), 77}, trailer...)...)
	b.record(recordSwitch, 0, trailer...)
	b.record(recordITraceStart, 0, uint32(10), uint32(10))
	b.record(recordThreadMap, 0, 1, 10, 0, 0)
	if found := reasonsOf(openFile(t, b.file())); found["odd-record"] != 0 {
		t.Error(found)
	}
}

// EVENT_DESC has a copy of each attribute.
func TestOtherAttributes(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	attrOf := func(flags uint64) []byte {
		return b.words(uint32(typeSoftware), uint32(minAttr), 0, 1000, tinyType, 0, flags, uint32(0), uint32(0), 0)
	}
	own, _, err := readAttr(attrOf(flagSampleIDAll), false)
	if err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[uint64]int64{flagSampleIDAll: 0, 0: 1} {
		r := &reader{recordParser: recordParser{byID: map[uint64]int32{}, rec: &decode.Recording{}}}
		r.addEvent(own, nil)
		desc := slices.Concat(b.words(uint32(1), uint32(minAttr)), attrOf(flags), b.words(uint32(0), uint32(8), "event"))
		c := cursorOf(desc, false)
		r.eventNames(&c)
		if got := reasonsOf(r.rec)["bad-attributes"]; got != want {
			t.Errorf("flags %#x: %d warnings, want %d: %v", flags, got, want, r.rec.Problems.Problems)
		}
	}
}
