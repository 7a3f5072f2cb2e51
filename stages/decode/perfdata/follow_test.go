package perfdata

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/internal/testfiles"
	"stackmill/schema"
	"stackmill/stages/decode"
)

const wallData = "../../../testdata/wall"

// openWall opens a recording of testdata/wall, and returns the states of its threads with times as
// recorded.
func openWall(t *testing.T, name string) (rec *decode.Recording, states []decode.ThreadState) {
	t.Helper()
	path := filepath.Join(wallData, name+".data")
	rec = New().Open(t.Context(), path)
	t.Cleanup(func() { rec.Close() })
	if rec.ThreadStates == nil {
		t.Fatal(rec.Problems.Problems)
	}
	if err := rec.ThreadStates(func(s *decode.ThreadState) error { states = append(states, *s); return nil }); err != nil {
		t.Fatal(err)
	}
	return rec, states
}

// goldenRows returns the rows of a table of testdata/wall/golden, without headings.
func goldenRows(t *testing.T, file string) (rows [][]string) {
	t.Helper()
	f, err := os.Open(filepath.Join(wallData, "golden", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "tid\t") {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	if rows == nil {
		t.Fatal(file, "is empty")
	}
	return rows
}

// wallNames returns the recordings with a golden of a kind.
func wallNames(t *testing.T, kind string) (names []string) {
	t.Helper()
	for _, f := range testfiles.Glob(t, filepath.Join(wallData, "golden", "*."+kind+".tsv")) {
		names = append(names, strings.TrimSuffix(filepath.Base(f), "."+kind+".tsv"))
	}
	if len(names) < 8 {
		t.Fatal("goldens are missing:", names)
	}
	return names
}

// knowsMore lists threads of which the goldens know less than the reader: the goldens forget the
// state of a thread when a switch is missing, and ignore switch records of CPUs that show it.
var knowsMore = map[string][]int32{
	"naps_all": {31741, 31828}, "disk_all": {421}, "ns_all": {1},
	"feed_all": {15, 18, 21, 75, 31368, 31444, 31932, 32576, 32672, 32673, 32674},
}

// inNamespace are the ids that threads have in perf's process namespace. Goldens have the ids of
// the whole machine.
var inNamespace = map[string]map[int32]int32{"ns_all": {1266: 1, 1311: 2}}

// The time of each thread in each state is the same as that of an independent reader, to the
// nanosecond.
func TestThreadStates(t *testing.T) {
	columns := []string{"on", "preempted", "runqueue", "blocked", "disk", "unknown"}
	for _, name := range wallNames(t, "threads") {
		t.Run(name, func(t *testing.T) {
			_, states := openWall(t, name)
			got := map[int32]map[string]int64{}
			for _, s := range states {
				if border := schema.BorderNames[s.Border]; border == "start" || border == "end" {
					continue
				}
				tid := int32(s.ThreadID)
				if got[tid] == nil {
					got[tid] = map[string]int64{}
				}
				got[tid][schema.StateNames[s.State]] += s.UntilNS - s.FromNS
			}
			for _, row := range goldenRows(t, name+".threads.tsv") {
				var tid int32
				fmt.Sscan(row[0], &tid)
				tid = cmp.Or(inNamespace[name][tid], tid)
				for i, state := range columns {
					var want int64
					fmt.Sscan(row[2+i], &want)
					have := got[tid][state]
					if have != want && !(slices.Contains(knowsMore[name], tid) && (have > want || state == "unknown")) {
						t.Errorf("thread %d (%s) was %s for %d ns, want %d", tid, row[1], state, have, want)
					}
				}
			}
		})
	}
}

// A recording of a program says that wake-ups from outside are missing, and so does one without any.
func TestMissingWakeups(t *testing.T) {
	for name, want := range map[string]string{"convoy_both": "only wake-ups by the recorded threads", "naps_switch": "no wake-ups", "naps_all": ""} {
		rec, _ := openWall(t, name)
		got := ""
		for _, p := range rec.Problems.Problems {
			if p.Reason == "runqueue-partial" {
				got = p.Message
			}
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Each wait has the times, the state and the waker that an independent reader finds.
func TestWaits(t *testing.T) {
	for _, name := range wallNames(t, "waits") {
		t.Run(name, func(t *testing.T) {
			_, states := openWall(t, name)
			type wait struct {
				tid, from, until int64
				state, waker     string
			}
			var want, got []wait
			threads, start := map[int64]bool{}, int64(0) // start: our time 0 on the goldens' clock
			for _, row := range goldenRows(t, name+".waits.tsv") {
				w := wait{state: row[3], waker: row[4]}
				fmt.Sscan(row[0]+" "+row[1]+" "+row[2], &w.tid, &w.from, &w.until)
				want, threads[w.tid] = append(want, w), true
			}
			for _, s := range states {
				state, border := schema.StateNames[s.State], schema.BorderNames[s.Border]
				if !threads[s.ThreadID] || state == "on" || border == "start" || border == "end" || slices.Contains(knowsMore[name], int32(s.ThreadID)) {
					continue
				}
				w := wait{s.ThreadID, s.FromNS, s.UntilNS, state, ""}
				if s.WakerThread >= 0 {
					w.waker = fmt.Sprint(s.WakerThread)
				}
				got = append(got, w)
			}
			want = slices.DeleteFunc(want, func(w wait) bool { return slices.Contains(knowsMore[name], int32(w.tid)) })
			byTime := func(a, b wait) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.tid, b.tid)) }
			slices.SortFunc(want, byTime)
			slices.SortFunc(got, byTime)
			if len(got) > 0 {
				start = want[0].from - got[0].from
			}
			for i := range got {
				got[i].from, got[i].until = got[i].from+start, got[i].until+start
			}
			if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(wait{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
