package perfdata

import (
	"encoding/binary"
	"math"
	"testing"

	"stackmill/problem"
)

// What of the records and features is cut is told.
func TestCutFields(t *testing.T) {
	for _, tt := range []struct {
		name     string
		build    func(*builder)
		reason   string
		severity problem.Severity
	}{
		{"a mapping", func(b *builder) { b.record(recordMmap, miscUser, uint32(5), uint32(5), 0x1000) }, "bad-record", problem.Error},
		{"a fork", func(b *builder) { b.record(recordFork, 0, uint32(5)) }, "bad-record", problem.Error},
		{"the name of a host", func(b *builder) {
			b.features = append(b.features, testFeature{featureHostname, b.words(uint32(100), uint32(0))})
		}, "bad-feature", problem.Warning},
		{"a build-id", func(b *builder) {
			b.features = append(b.features, testFeature{featureBuildID, b.words(uint32(0), uint16(0), uint16(200), 0)})
		}, "bad-feature", problem.Warning},
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

// Two events of one id cannot be told apart.
func TestSharedIDs(t *testing.T) {
	r := &reader{byID: map[uint64]int32{}}
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

// A wall-clock time that runs over is left out, and told.
func TestWallClockOverflow(t *testing.T) {
	b := recording(binary.LittleEndian)
	b.features = append(b.features, testFeature{featureClockData, b.words(uint32(1), uint32(0), math.MaxInt64-1, 0)})
	rec := openFile(t, b.file())
	if !rec.Started.IsZero() || reasonsOf(rec)["bad-time"] != 1 {
		t.Error(rec.Started, rec.Problems.Problems)
	}
}
