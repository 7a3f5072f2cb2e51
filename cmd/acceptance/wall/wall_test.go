// Package wall tests where the wall-clock time of recorded programs went: against the programs' own
// clocks, and by the invariants of the store.
package wall

import (
	"database/sql"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/export"
)

var (
	db         *queries.DB
	recordings []string
)

func TestMain(m *testing.M) {
	suite.Main(m, func(folder string) (_ *queries.DB, err error) {
		root, err := corpus.Root()
		if err != nil {
			return nil, err
		}
		data := filepath.Join(root, "testdata", "wall")
		if recordings, err = filepath.Glob(filepath.Join(data, "*.data")); err != nil {
			return nil, err
		}
		if err := composeOffCPU(filepath.Join(data, "naps_both.data"), folder); err != nil {
			return nil, err
		}
		db, err = suite.Open(pipeline.Options{Store: filepath.Join(folder, "store"), Cache: filepath.Join(folder, "cache"), SymFS: filepath.Join(data, "symfs"), Kallsyms: filepath.Join(data, "kallsyms")}, recordings...)
		return db, err
	})
}

// Each sample is in exactly one leaf or has one reason, waits included. The states of a thread
// follow each other without gaps, and add up.
func TestInvariants(t *testing.T) {
	if len(recordings) < 10 {
		t.Fatal("recordings are missing:", recordings)
	}
	suite.CheckInvariants(t, db, len(recordings))
}

// The time in a function is what the program measured around its calls, within 1 % or 0.1 ms per
// wait: the program's measurement includes entering and leaving the kernel.
func TestTruth(t *testing.T) {
	for _, test := range []struct {
		recording, function, states string
		waits                       int
		ms, slack                   float64
	}{
		{"naps_both", "idlewait", "'blocked'", 2, 243.323, 0.01},
		{"naps_both", "nap", "'blocked'", 8, 163.491, 0.01},
		{"naps_all", "idlewait", "'blocked', 'runqueue'", 1, 43.520, 0.01},
		{"naps_all", "nap", "'blocked', 'runqueue'", 7, 33.895, 0.01},
		{"convoy_both", "enter", "'blocked', 'runqueue'", 31, 305.402, 0.01},
		{"attach_late", "longwait", "'blocked'", 1, 400.250, 0.01},
	} {
		var ns sql.NullInt64
		err := db.QueryRow(`SELECT sum(wait_ns) FROM waits WHERE experiment = ? AND function = ? AND mode = 'user' AND state IN (`+test.states+`)`,
			test.recording+".data", test.function).Scan(&ns)
		if err != nil {
			t.Fatal(err)
		}
		got := float64(ns.Int64) / 1e6
		if math.Abs(got-test.ms) > max(test.slack*test.ms, 0.1*float64(test.waits)) {
			t.Errorf("%s: %s waited for %.3f ms, the program measured %.3f", test.recording, test.function, got, test.ms)
		}
	}
}

// In a lock convoy, each wait ends when another thread of the convoy leaves the lock.
func TestWakers(t *testing.T) {
	var waits, byOthers int
	err := db.QueryRow(`SELECT sum(waits), sum(waits) FILTER (waker_function = 'leave' AND waker_thread_name <> thread_name)
		FROM wakers WHERE experiment = 'convoy_both.data' AND function = 'enter'`).Scan(&waits, &byOthers)
	if err != nil || waits != 31 || byOthers != waits {
		t.Errorf("%d waits, %d ended by other threads: %v", waits, byOthers, err)
	}
}

// Sleeps end by an interrupt of a timer, not by the thread that was on the CPU then.
func TestWakersInInterrupts(t *testing.T) {
	var sleeps, byInterrupts int
	err := db.QueryRow(`SELECT sum(waits), sum(waits) FILTER (waker_function = '<Interrupt>' AND waker_thread_name IS NULL)
		FROM wakers WHERE experiment = 'naps_all.data' AND function IN ('idlewait', 'nap')`).Scan(&sleeps, &byInterrupts)
	if err != nil || sleeps < 5 || byInterrupts != sleeps {
		t.Errorf("%d sleeps, %d ended by interrupts: %v", sleeps, byInterrupts, err)
	}
}

// What cannot be known is reported as unknown: a recording of single processes does not show when
// threads came back to a CPU, and lost records hide the states of threads.
func TestUnknown(t *testing.T) {
	count := func(query string) (n int64) {
		t.Helper()
		if err := db.QueryRow(query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(`SELECT count(*) FROM thread_states JOIN experiments USING (experiment_id) WHERE experiment = 'naps_sched.data'`); n != 0 {
		t.Errorf("naps_sched: %d states", n)
	}
	if n := count(`SELECT count(*) FROM problems JOIN experiments USING (experiment_id) WHERE experiment = 'naps_sched.data' AND reason = 'switch-in-not-recorded'`); n != 1 {
		t.Errorf("naps_sched: %d problems say that", n)
	}
	lost := count(`SELECT COALESCE(sum(t1_ns - t0_ns), 0)::BIGINT FROM thread_states JOIN experiments USING (experiment_id)
		WHERE experiment = 'lost_small.data' AND state = 'unknown' AND border = 'loss'`)
	if lost != 1105800 {
		t.Errorf("lost_small: unknown for %d ns", lost)
	}
	if n := count(`SELECT count(*) FROM recorded_stacks JOIN experiments USING (experiment_id)
		WHERE experiment = 'convoy_freq.data' AND reason = 'no stack was recorded when the thread was switched out'`); n == 0 {
		t.Error("convoy_freq: no reason for waits without a stack")
	}
}

// pprof shows waits by state: it does not take the names in angle brackets for template arguments.
func TestPprof(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "wall.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	one, err := db.Subset(t.Context(), "convoy_both.data")
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	if err := export.Write(t.Context(), one, export.Request{As: "pprof", Metric: "wall", Mode: "user"}, file); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-top", file.Name()).CombinedOutput()
	for _, want := range []string{"384.36ms 60.08% 60.08%   384.36ms 60.08%  <Blocked>\n", "  <Preempted>\n", "  <Run-queue-wait>\n"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Fatalf("%v, not %q: %s", err, want, out)
		}
	}
}

// The fields of a probe are what the program passed.
func TestFields(t *testing.T) {
	var deposits, number, total, last int64
	var notes int
	err := db.QueryRow(`WITH fields AS (
		SELECT p.event, m.field, f.sample, f.number, f.text FROM event_fields f JOIN perf_samples p USING (experiment_id, sample)
		JOIN event_formats m USING (experiment_id, event, position) JOIN experiments e USING (experiment_id) WHERE e.experiment = 'bank_probe.data')
		SELECT count(*) FILTER (field = 'amount'), max(number) FILTER (field = 'number'), sum(number) FILTER (field = 'amount'),
			count(*) FILTER (field = 'note' AND text = 'wages'), arg_max(number, sample) FILTER (field = 'balance') FROM fields`).Scan(&deposits, &number, &total, &notes, &last)
	if err != nil || deposits != 15 || number != 42 || total != 645 || notes != 10 || last != 645 {
		t.Errorf("%d deposits to %d of %d, %d of them wages, last balance %d: %v", deposits, number, total, notes, last, err)
	}
}

// statLine matches a count in the output of perf stat: the time of an interval or the name of a CPU
// or thread, the count or why there is none, its unit, and the event.
var statLine = regexp.MustCompile(`(?m)^ *(?:([0-9.]+) {2,}|(?:CPU|\S+-)([0-9]+) +)?([0-9.]+|<not counted>|<not supported>) +(?:(msec|ns) +)?([a-z][a-z:_-]+) *(?:#.*)?$`)

// The counts are the ones that perf stat prints: by interval, CPU and thread, with their units.
func TestCounts(t *testing.T) {
	for name, by := range map[string]string{"groups": "''", "interval": "printf('%.9f', t1_ns / 1e9)", "percpu": "cpu", "threads": "thread_id", "unsupported": "''"} {
		file := "stat_" + name
		text, err := os.ReadFile(filepath.Join(filepath.Dir(recordings[0]), "golden", file+".stat.txt"))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, m := range statLine.FindAllStringSubmatch(string(text), -1) {
			want = append(want, fmt.Sprint(m[1]+m[2], " ", strings.Trim(m[3], "<>"), " ", m[4], " ", m[5]))
		}
		var got []string
		suite.Query(t, db.DB, func(rows *sql.Rows) error {
			var line string
			err := rows.Scan(&line)
			got = append(got, line)
			return err
		}, `SELECT concat(`+by+`, ' ', CASE WHEN missing <> '' THEN missing WHEN unit = 'msec' THEN printf('%.2f', amount) ELSE value::VARCHAR END,
			' ', unit, ' ', regexp_replace(event, '_2$', '')) FROM counters WHERE experiment = '`+file+`.data'`)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) || len(got) < 3 {
			t.Errorf("%s: the counts are\n%s\nperf prints\n%s", file, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
