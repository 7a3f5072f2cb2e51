package perfdata

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Recordings from before Linux 3.0 have another magic number, which is the same in both byte
// orders. The names of tracepoints are in a section of their own, or in a record.
func TestOldRecordings(t *testing.T) {
	typ := uint32(typeTracepoint)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, inRecord := range []bool{false, true} {
			b := &builder{order: order, typ: &typ, config: 77}
			names := b.words(76, "irq:irq_entry"+strings.Repeat("\x00", 50), 77, "sched:sched_switch"+strings.Repeat("\x00", 45))
			if inRecord {
				b.record(recordEventType, 0, string(names[72:143]))
			}
			for i := range 3 {
				b.sample(1, 10+i, user, 0x4010+i)
			}
			content := b.file()
			if !inRecord {
				head := b.words(len(content), len(names))
				copy(content[56:], head)
				content = append(content, names...)
			}
			content = append([]byte("PERFFILE"), content[8:]...)
			path := filepath.Join(t.TempDir(), "old")
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
			if !New().Detect(path) || !New().Finished(path) {
				t.Error("it is not taken for a finished recording")
			}
			rec := New().Open(t.Context(), path)
			if len(rec.Processes) != 1 {
				t.Fatal(rec.Problems.Problems)
			}
			p := rec.Processes[0]
			if d := cmp.Diff([]string{"  0 [0x4010] 1000", "  1 [0x4011] 1000", "  2 [0x4012] 1000"}, samplesOf(t, p, nil)); d != "" {
				t.Error(d)
			}
			if name := p.Counters[0].Name; name != "sched:sched_switch" {
				t.Errorf("in a record %t: the event is %s", inRecord, name)
			}
			if len(rec.Problems.Problems) > 0 {
				t.Error(rec.Problems.Problems)
			}
			if err := rec.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if beginsRecording(bytes.ToLower([]byte("PERFFILE"))) {
		t.Error("any text is taken for a recording")
	}
}
