package gprofng_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stackmill/internal/corpus"
	"stackmill/internal/testfiles"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := corpus.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func recording(t *testing.T, name string) *decode.Recording {
	t.Helper()
	dir, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	return open(t, filepath.Join(dir, name))
}

// No good recording has an error, and all of its events have stacks.
func TestRecordings(t *testing.T) {
	dir, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range testfiles.Glob(t, filepath.Join(dir, "exp/*.er")) {
		rec := open(t, name)
		wantReasons(t, rec, diagnostic.Error)
		for _, p := range rec.Processes {
			for kind := range gprofngtest.Kinds {
				got, _ := events(t, p, kind)
				if int64(len(got["time_ns"])) != p.Records(kind) || !slices.IsSorted(got["time_ns"]) {
					t.Errorf("%s: %d %s events of %d", name, len(got["time_ns"]), kind, p.Records(kind))
				}
				for i, n := range got["raw_stack"] {
					if n < 0 || p.Stacks.Leaf(int32(n)) < 0 {
						t.Errorf("%s: %s event %d has no stack", name, kind, i)
						break
					}
				}
			}
		}
	}
}

// The recordings have the numbers that follow from the sources of the programs.
func TestHeapTruth(t *testing.T) {
	p := recording(t, "exp/heap.er").Processes[0]
	got, _ := events(t, p, schema.Heap)
	type call struct{ operation, size int64 }
	calls := map[call]int{}
	var reallocated int64
	for i, op := range got["operation"] {
		calls[call{op, got["size"][i]}]++
		if op == 2 {
			reallocated += got["size"][i]
		}
	}
	for c, n := range map[call]int{
		{0, 100}: 100, {0, 200}: 300, {0, 300}: 40, {0, 1000}: 100, {0, 3000}: 100, {0, 50}: 1000,
		{1, 0}: 300 + 1 + 20 + 75 + 80 + 1000 + 1,
	} {
		if calls[c] != n {
			t.Errorf("operation %d with size %d: %d times, want %d", c.operation, c.size, calls[c], n)
		}
	}
	if reallocated != 81600 {
		t.Errorf("reallocated %d bytes", reallocated)
	}
}

func TestIOTruth(t *testing.T) {
	p := recording(t, "exp/io.er").Processes[0]
	got, names := events(t, p, schema.IO)
	calls, bytes := map[int64]int{}, map[int64]int64{}
	for i, op := range got["operation"] {
		if got["bytes"][i] == 512 || got["bytes"][i] == 100 || got["bytes"][i] == 1024 {
			calls[op<<32|got["bytes"][i]]++
			bytes[op] += got["bytes"][i]
		}
		if got["requested_ns"][i] > got["time_ns"][i] {
			t.Fatalf("event %d ends before it starts", i)
		}
	}
	for k, n := range map[int64]int{1<<32 | 1024: 100, 50<<0 | 0<<32 | 50: 0, 0<<32 | 100: 50, 1<<32 | 512: 20, 0<<32 | 512: 20} {
		if calls[k] != n {
			t.Errorf("operation %d of %d bytes: %d times, want %d", k>>32, k&0xffffffff, calls[k], n)
		}
	}
	if names[0] != "/tmp/corpus/tmp_io.dat" || got["operation"][0] != 2 {
		t.Errorf("the first event is operation %d of %q", got["operation"][0], names[0])
	}
}

func TestForkTruth(t *testing.T) {
	rec := recording(t, "exp/forkexec.er")
	var got []string
	for _, p := range rec.Processes {
		got = append(got, fmt.Sprintf("%d %s %s", p.Number, p.Lineage, p.Target))
	}
	want := []string{"1  forkexec", "2 _f1 forkexec", "3 _f1_f1 forkexec", "4 _f2_x1 forkexec_target", "5 _x1_x1 forkexec_target"}
	if !slices.Equal(got, want) {
		t.Errorf("processes %q, want %q", got, want)
	}
}

// A stack deeper than the collector's buffer ends in MarkTruncated.
func TestTruncatedTruth(t *testing.T) {
	marked := 0
	for _, s := range recording(t, "exp/deep.er").Processes[0].Stacks.Expanded() {
		if n := len(s.Words); s.Words[n-1] == decode.MarkTruncated {
			marked++
			if n != 257 {
				t.Errorf("a truncated stack has %d words", n)
			}
		}
	}
	if marked == 0 {
		t.Error("no stack is truncated")
	}
}

// Generated code that was at the same address at different times has its own instructions and
// lines.
func TestJITTruth(t *testing.T) {
	var got []string
	for _, ev := range recording(t, "exp/jit_api.er").Processes[0].Mappings {
		if ev.Code != nil && ev.Code.Function != "" && ev.Code.Function[0] == 'j' {
			got = append(got, fmt.Sprintf("%s %d bytes %s %d lines", ev.Code.Function, len(ev.Code.Bytes), ev.Code.File, len(ev.Code.Lines)))
		}
	}
	want := []string{"jit_loop_one 16 bytes jitsource.x 2 lines", "jit_loop_two 16 bytes  0 lines", "jit_callback 16 bytes  0 lines", "jit_loop_three 16 bytes  0 lines"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Every damaged recording opens, reports the damage, and has the rest of the data.
func TestDamagedRecordings(t *testing.T) {
	const whole = 1610 // number of events in the recording before it was damaged
	for _, c := range []struct {
		name   string
		events int // -1: no process
		file   string
		offset int64
		reason string
	}{
		{"d_archive_cut", whole, "", 0, ""},
		{"d_archive_swapped", whole, "", 0, ""},
		{"d_empty_dir", -1, "log.xml", -1, "missing-file"},
		{"d_file", -1, "d_file.er", -1, "not-a-directory"},
		{"d_garbage_frames", whole, "data.frameinfo", 1008, "bad-packet"},
		{"d_garbage_packet", whole - 17, "profile", 9968, "bad-packet"},
		{"d_log_cut", 0, "log.xml", 922, "xml-syntax"},
		{"d_log_cut_end", whole, "log.xml", 1797, "xml-syntax"},
		{"d_map_badattr", whole, "map.xml", 0, "bad-number"},
		{"d_map_cut", whole, "map.xml", 1500, "xml-syntax"},
		{"d_no_archives", whole, "archives", -1, "missing-file"},
		{"d_no_frameinfo", whole, "data.frameinfo", -1, "missing-file"},
		{"d_no_log", -1, "log.xml", -1, "missing-file"},
		{"d_no_map", whole, "map.xml", -1, "missing-file"},
		{"d_trunc_profile", 357, "profile", 19992, "bad-packet"},
		{"d_zero_log", -1, "log.xml", 0, "not-started"},
		{"d_zero_map", whole, "map.xml", 0, "empty-file"},
		{"d_zero_profile", 0, "profile", 0, "missing-events"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := recording(t, "damaged/"+c.name+".er")
			n := -1
			if len(rec.Processes) > 0 {
				got, _ := events(t, rec.Processes[0], schema.Clock)
				n = len(got["time_ns"])
			}
			if n != c.events {
				t.Errorf("%d events, want %d", n, c.events)
			}
			found := c.reason == ""
			for _, p := range rec.Problems.Problems {
				found = found || p.File == c.file && p.Offset == c.offset && p.Reason == c.reason
			}
			if !found {
				t.Errorf("no problem %s of %s at %d among %v", c.reason, c.file, c.offset, rec.Problems.Problems)
			}
		})
	}
}
