package perfdata

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The names of simpleperf's events come from its own feature, its mappings also from a list
// as of the beginning, and ids from a record.
func TestSimpleperf(t *testing.T) {
	typ := uint32(typeTracepoint)
	b := &builder{order: binary.LittleEndian, typ: &typ, config: 77}
	inner := &builder{order: binary.LittleEndian}
	inner.mmap(1, 0, 0x4000, "/system/bin/app")
	b.features = append(b.features,
		testFeature{featureMeta, []byte("simpleperf_version\x001.build.7\x00event_type_info\x00cpu-cycles,0,0\nsched:sched_switch,2,77\nraw,4\n\x00odd")},
		testFeature{featureInitMap, inner.data})
	b.sample(1, 10, user, 0x4010)
	b.record(recordEventIDs, 0, 2, 0, 99, 5, 98)
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, b.file(), 0o644); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	defer rec.Close()
	p := rec.Processes[0]
	if len(p.Mappings) != 1 {
		t.Fatal(p.Mappings)
	}
	got := []string{rec.Collector, p.Counters[0].Name, p.Mappings[0].Path}
	if d := cmp.Diff([]string{"simpleperf 1.build.7", "sched:sched_switch", "/system/bin/app"}, got); d != "" {
		t.Error(d)
	}
	if len(rec.Problems.Problems) > 0 {
		t.Error(rec.Problems.Problems)
	}
	for modifiers, want := range map[string]string{"": "", ":HG": "", ":u": ":u", ":kH": ":k", ":pppH": ":ppp"} {
		if got := withoutSystems(modifiers); got != want {
			t.Errorf("%q becomes %q", modifiers, got)
		}
	}
}
