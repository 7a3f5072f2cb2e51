package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/suite"

	"github.com/google/go-cmp/cmp"
)

// TestMain acts as the launcher if the test starts stackmill through it.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == launcher {
		main()
		return
	}
	os.Exit(m.Run())
}

// Tests a few mutants of small recordings: by mutations of all kinds, and of recordings of switches
// by those that damage what states of threads and fields of tracepoints depend on.
func TestMutants(t *testing.T) {
	work := t.TempDir()
	binary := filepath.Join(work, "stackmill")
	if err := suite.Build(binary); err != nil {
		t.Fatal(err)
	}
	for _, f := range []flags{
		{count: 32, seed: 1001, group: 16, base: "io|forkexec|p_recur_z|p_pipe|p_group_read|p_plt_lazy", mutation: ".*"},
		{count: 8, seed: 1, group: 4, base: "w_(naps_both|bank_probe|onecpu)", mutation: "formats-.*|raw-.*|switch-.*|lives|lost-inserted|id-index"},
	} {
		f.jobs, f.keep, f.binary = 2, filepath.Join(work, "kept"), binary
		var out bytes.Buffer
		if failed, err := run(t.Context(), f, &out); err != nil || failed > 0 {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
}

// small unpacks the recordings for tests that damage them without ingesting them.
func small(t *testing.T) string {
	dir := t.TempDir()
	if err := unpack(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The same seed, base and mutation make the same mutant again. Each mutation fits a recording.
func TestMade(t *testing.T) {
	dir := small(t)
	for _, mu := range mutations {
		fits := false
		for _, b := range bases {
			m := mutant{7, b, mu}
			one, err := m.make(dir)
			if err != nil {
				t.Fatalf("%s: %v", m.name(), err)
			}
			if one == nil {
				continue
			}
			fits = true
			two, err := m.make(dir)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(one.words, two.words) + cmp.Diff(one.rec.special, two.rec.special); d != "" {
				t.Errorf("%s: %s", m.name(), d)
			}
			for name, data := range one.rec.changed {
				if !bytes.Equal(data, two.rec.changed[name]) {
					t.Errorf("%s: %s is another the second time", m.name(), name)
				}
			}
			break
		}
		if !fits {
			t.Errorf("%s fits no recording", mu.name)
		}
	}
}

// Splitting and joining perf.data files leaves them unchanged.
func TestPerfFile(t *testing.T) {
	dir := small(t)
	for _, b := range bases {
		if b.gprofng {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, b.path))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(parsePerf(data).bytes(), data) {
			t.Errorf("%s is another", b.name)
		}
	}
}

// The packets that are found cover the event files without gaps.
func TestPackets(t *testing.T) {
	dir := small(t)
	for _, b := range bases {
		if !b.gprofng {
			continue
		}
		rec, err := newRecording(b, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range rec.names(packetFiles...) {
			data, err := rec.read(name)
			if err != nil {
				t.Fatal(err)
			}
			covered := 0
			for _, p := range packets(data) {
				covered += p.size
			}
			if covered != len(data) {
				t.Errorf("%s %s: packets cover %d of %d bytes", b.name, name, covered, len(data))
			}
		}
	}
}

// The oracle finds samples that are silently missing or different. It accepts only the differences
// that the mutation explains.
func TestVerdict(t *testing.T) {
	holds := func(n int, change func(i int, s *sample)) *contents {
		h := &contents{samples: map[sample]int{}, problems: map[string]int64{"warning known": 1}}
		for i := range n {
			s := sample{kind: "clock", pid: 1, thread: int64(i % 3), time: int64(100 * i), stack: uint64(i % 5), value: fmt.Sprint(i % 2)}
			change(i, &s)
			h.samples[s]++
			h.count++
		}
		return h
	}
	same := func(int, *sample) {}
	base := holds(20, same)
	warned := holds(19, same)
	warned.problems["warning other"] = 1
	for _, c := range []struct {
		name   string
		have   *contents
		truth  truth
		status int
		silent bool
	}{
		{"the same", holds(20, same), truth{}, 0, false},
		{"one is missing", holds(19, same), truth{}, 0, true},
		{"one record is missing", holds(19, same), truth{samples: 1}, 0, false},
		{"two are missing", holds(18, same), truth{samples: 1}, 0, true},
		{"one is new", holds(21, same), truth{}, 0, true},
		{"an error is told", holds(3, same), truth{}, 3, false},
		{"a warning is told", warned, truth{}, 0, false},
		{"a value", holds(20, func(i int, s *sample) { s.value += "0" }), truth{}, 0, true},
		{"values that nobody knows", holds(20, func(i int, s *sample) { s.value += "0" }), truth{free: value}, 0, false},
		{"all later", holds(20, func(i int, s *sample) { s.time += 7 }), truth{}, 0, true},
		{"all later by the same", holds(20, func(i int, s *sample) { s.time += 7 }), truth{free: shift}, 0, false},
		{"one later by more", holds(20, func(i int, s *sample) { s.time += 7 + int64(i/19) }), truth{free: shift}, 0, true},
		{"another stack", holds(20, func(i int, s *sample) { s.stack = 9 }), truth{free: value | moment}, 0, true},
	} {
		if got := verdict(c.have, base, c.truth, c.status); (got != nil) != c.silent {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// judge finds a crash, a hang and bad output of a run.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		o    outcome
		want string
	}{
		{outcome{Status: 3, stderr: "stackmill: a: b\n"}, ""},
		{outcome{Status: -1, Signal: "signal: killed"}, "crash: signal: killed"},
		{outcome{Status: 2, stderr: "panic: index\n\ngoroutine 1 [running]:\n"}, "crash: panic: on standard error"},
		{outcome{Status: -1, Hung: true}, "hang: more than 30s"},
		{outcome{RSS: 2 << 20}, "memory: 2 MB"},
		{outcome{stdout: "\x1b[2J"}, "terminal: control characters are printed"},
	} {
		c.o.judge(1 << 20)
		if got := strings.Join(c.o.failures, "; "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// All fuzz targets of the module are found.
func TestFuzzTargets(t *testing.T) {
	list, err := fuzzTargets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 20 {
		t.Errorf("only %v", list)
	}
}
