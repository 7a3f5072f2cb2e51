package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"golang.org/x/sys/unix"

	"stackmill/internal/exit"
	"stackmill/pipeline/runner"
)

// night is a folder of recordings, and a store into which the test's process ingests them.
type night struct {
	t                      *testing.T
	dir, store             string
	report, metrics, cache string
	stderr                 string // standard error of the last run
}

func newNight(t *testing.T) *night {
	dir := t.TempDir()
	n := &night{
		t: t, dir: filepath.Join(dir, "recordings"), store: filepath.Join(dir, "store"), cache: filepath.Join(dir, "cache"),
		report: filepath.Join(dir, "report.json"), metrics: filepath.Join(dir, "stackmill.prom"),
	}
	for _, name := range []string{"a.er", "b.er", "empty.er"} {
		path := filepath.Join(n.dir, name)
		if name == "empty.er" {
			if err := os.MkdirAll(path, 0o777); err != nil {
				t.Fatal(err)
			}
		} else if err := compose(path); err != nil {
			t.Fatal(err)
		}
	}
	// b.er gets other content than a.er.
	if err := os.WriteFile(filepath.Join(n.dir, "b.er", "more"), []byte("b"), 0o666); err != nil {
		t.Fatal(err)
	}
	return n
}

// ingest runs the verb and returns the exit status.
func (n *night) ingest(args ...string) int {
	n.t.Helper()
	var stdout, stderr bytes.Buffer
	args = append([]string{"ingest", "--store", n.store, "--cache", n.cache, "--report", n.report, "--metrics", n.metrics}, args...)
	code := run(args, strings.NewReader(""), &stdout, &stderr)
	n.stderr = stderr.String()
	return code
}

// read reads the report.
func (n *night) read() (r runner.Report) {
	n.t.Helper()
	text, err := os.ReadFile(n.report)
	if err != nil {
		n.t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		n.t.Fatalf("%v\n%s", err, text)
	}
	return r
}

// series reads the metrics, with all labels but the store's.
func (n *night) series() map[string]float64 {
	n.t.Helper()
	f, err := os.Open(n.metrics)
	if err != nil {
		n.t.Fatal(err)
	}
	defer f.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(f)
	if err != nil {
		n.t.Fatal(err)
	}
	series := map[string]float64{}
	for name, family := range families {
		if family.GetHelp() == "" || (family.GetType() == dto.MetricType_COUNTER) != strings.HasSuffix(name, "_total") {
			n.t.Errorf("%s: help %q, type %v", name, family.GetHelp(), family.GetType())
		}
		for _, m := range family.Metric {
			key, store := name, ""
			for _, l := range m.Label {
				if l.GetName() == "store" {
					store = l.GetValue()
				} else if name != "stackmill_ingest_info" {
					key += " " + l.GetValue()
				}
			}
			if store != n.store {
				n.t.Errorf("%s: store %q", name, store)
			}
			series[key] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return series
}

// The report has the result of each input, in the order found, and the totals.
func TestReportOfIngest(t *testing.T) {
	n := newNight(t)
	if code := n.ingest(n.dir, "nowhere"); code != exit.Lost {
		t.Fatalf("status %d\n%s", code, n.stderr)
	}
	r := n.read()
	var got []string
	rows := int64(0)
	for _, in := range r.Inputs {
		got = append(got, fmt.Sprint(in.Experiment, " ", in.Status, " ", in.InStore, " ", in.Samples, " ", in.ExperimentID != "", in.Batch != "", in.Rows > 0, in.RecordingBytes > 0, len(in.StageSeconds) > 10, in.Error != ""))
		rows += in.Rows
	}
	want := []string{
		"a.er complete true 3 true true true true true false", "b.er complete true 3 true true true true true false",
		"empty.er failed true 0 true true true false true false", "nowhere failed false 0 false false false false false true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	e := r.Inputs[2]
	if len(e.Problems) != 1 || e.Problems[0].Reason != "missing-file" || e.Problems[0].Count != 1 || e.Problems[0].Severity != "error" {
		t.Errorf("problems of an empty one: %+v", e.Problems)
	}
	total := r.Totals
	if r.ExitStatus != exit.Lost || r.Error == "" || r.Interrupted || r.Store != n.store || total.Inputs != 4 || total.Samples != 6 ||
		total.Experiments["complete"] != 2 || total.Experiments["failed"] != 2 || total.Problems["error"] != 1 ||
		total.Rows != rows || len(r.Batches) != total.Batches || total.FileBytes == 0 || r.Ended.Before(r.Started) {
		t.Errorf("%+v\n%+v", r, total)
	}
	experiments := 0
	for _, b := range r.Batches {
		experiments += b.Experiments
	}
	if experiments != 3 {
		t.Errorf("the batches have %d experiments", experiments)
	}
	if err := os.RemoveAll(filepath.Join(n.dir, "empty.er")); err != nil {
		t.Fatal(err)
	}
	if code := n.ingest(n.dir); code != 0 {
		t.Fatalf("again: status %d\n%s", code, n.stderr)
	}
	if r := n.read(); r.ExitStatus != 0 || r.Error != "" || r.Totals.Experiments["skipped"] != 2 || !r.Inputs[0].InStore || len(r.Batches) != 0 {
		t.Errorf("again: %+v", r)
	}
}

// A report is written even if nothing could be done; if it cannot be written, the error comes
// before the work.
func TestReportWithoutWork(t *testing.T) {
	n := newNight(t)
	if err := os.MkdirAll(filepath.Join(n.store, "commits", "x.json"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(n.store, "commits", "y.json"), []byte(`{"store_version": "1"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if code := n.ingest(n.dir); code != exit.Failed {
		t.Errorf("status %d", code)
	}
	if r := n.read(); r.ExitStatus != exit.Failed || r.Error == "" || r.Inputs == nil || len(r.Inputs) != 0 {
		t.Errorf("%+v", r)
	}
	n.report = filepath.Join(n.dir, "none", "report.json")
	if code := n.ingest(n.dir); code != exit.Failed || !strings.Contains(n.stderr, "--report: ") {
		t.Errorf("status %d: %s", code, n.stderr)
	}
	n.report = t.TempDir()
	if code := n.ingest(n.dir); code != exit.Failed || !strings.Contains(n.stderr, "is a directory") {
		t.Errorf("status %d: %s", code, n.stderr)
	}
}

// Prometheus can read the metrics; counters continue, and the time of the last success stays.
func TestMetrics(t *testing.T) {
	n := newNight(t)
	n.store = filepath.Join(t.TempDir(), "a \"store\"\\\n")
	check := func(code int, want map[string]float64) map[string]float64 {
		t.Helper()
		if got := n.ingest(n.dir); got != code {
			t.Fatalf("status %d\n%s", got, n.stderr)
		}
		series := n.series()
		for name, v := range want {
			if got, ok := series[name]; !ok || got != v {
				t.Errorf("%s is %v, not %v", name, got, v)
			}
		}
		return series
	}
	s := check(exit.Lost, map[string]float64{
		"stackmill_ingest_info": 1, "stackmill_ingest_last_run_exit_status": 3, "stackmill_ingest_last_success_timestamp_seconds": 0,
		"stackmill_ingest_last_run_experiments complete": 2, "stackmill_ingest_last_run_experiments failed": 1, "stackmill_ingest_last_run_experiments skipped": 0,
		"stackmill_ingest_experiments_total complete": 2, "stackmill_ingest_samples_total": 6, "stackmill_ingest_problems_total error": 1,
		"stackmill_ingest_runs_total": 1, "stackmill_store_experiments complete": 2, "stackmill_store_experiments failed": 1, "stackmill_store_experiments partial": 0,
	})
	if s["stackmill_ingest_written_bytes_total"] != s["stackmill_store_bytes"] || s["stackmill_store_bytes"] == 0 || s["stackmill_ingest_stage_seconds_total write"] == 0 {
		t.Errorf("%v", s)
	}
	if err := os.RemoveAll(filepath.Join(n.dir, "empty.er")); err != nil {
		t.Fatal(err)
	}
	s = check(0, map[string]float64{
		"stackmill_ingest_last_run_exit_status": 0, "stackmill_ingest_last_run_experiments complete": 0, "stackmill_ingest_last_run_experiments skipped": 2,
		"stackmill_ingest_experiments_total complete": 2, "stackmill_ingest_experiments_total failed": 1, "stackmill_ingest_experiments_total skipped": 2,
		"stackmill_ingest_runs_total": 2, "stackmill_ingest_written_bytes_total": s["stackmill_ingest_written_bytes_total"],
	})
	success := s["stackmill_ingest_last_success_timestamp_seconds"]
	if success == 0 || success != s["stackmill_ingest_last_run_timestamp_seconds"] {
		t.Errorf("success at %v", success)
	}
	if err := os.Mkdir(filepath.Join(n.dir, "empty.er"), 0o777); err != nil {
		t.Fatal(err)
	}
	check(exit.Lost, map[string]float64{"stackmill_ingest_last_success_timestamp_seconds": success, "stackmill_ingest_runs_total": 3})
	// A collector of another user must be able to read the file.
	old := unix.Umask(0o022)
	unix.Umask(old)
	if info, err := os.Stat(n.metrics); err != nil || info.Mode().Perm() != 0o666&^os.FileMode(old) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(n.metrics), ".*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	// Unreadable commits do not count as an empty store.
	if err := errors.Join(os.RemoveAll(filepath.Join(n.store, "commits")), os.WriteFile(filepath.Join(n.store, "commits"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	s = check(exit.Failed, map[string]float64{"stackmill_ingest_runs_total": 4})
	if _, ok := s["stackmill_store_batches"]; ok || !strings.Contains(n.stderr, "--metrics: written without") {
		t.Errorf("%v\n%s", s, n.stderr)
	}
}

// The log has the same keys in both formats, a line for each recording that was read, and
// one for each reason of problems.
func TestLogFormats(t *testing.T) {
	keys := regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*"|\S*)`)
	var text, all [][]string
	n := newNight(t)
	n.ingest("--log-format", "text", n.dir)
	for line := range strings.Lines(n.stderr) {
		if strings.HasPrefix(line, "stackmill: ") {
			continue
		}
		var names []string
		for _, m := range keys.FindAllStringSubmatch(line, -1) {
			names = append(names, m[1])
		}
		text = append(text, names)
	}
	n = newNight(t)
	n.ingest("--log-format", "json", n.dir)
	for line := range strings.Lines(n.stderr) {
		if strings.HasPrefix(line, "stackmill: ingest: ") { // the end
			continue
		}
		d := json.NewDecoder(strings.NewReader(line))
		var names []string
		for depth := 0; ; {
			token, err := d.Token()
			if err != nil {
				break
			}
			if token == json.Delim('{') || token == json.Delim('}') {
				continue
			}
			if name, ok := token.(string); ok && depth%2 == 0 {
				names = append(names, name)
			}
			depth++
		}
		all = append(all, names)
	}
	sorted := func(lines [][]string) [][]string { // experiments are read concurrently
		slices.SortFunc(lines, func(a, b []string) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		return lines
	}
	if diff := cmp.Diff(sorted(text), sorted(all)); diff != "" || len(all) != 6 {
		t.Errorf("%d lines: %s\n%s", len(all), diff, n.stderr)
	}
}

// A log has a line for each recording, and one line for all recordings with the same problem.
func TestManyAreLogged(t *testing.T) {
	n := newNight(t)
	for i := range 40 {
		if err := os.MkdirAll(filepath.Join(n.dir, fmt.Sprintf("e%02d.er", i)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(n.dir, fmt.Sprintf("%02d.perf.data", i)), []byte("none"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	n.ingest("--log-format", "text", n.dir)
	countLines(t, n.stderr, map[string]int{
		"level=ERROR msg=ingest .*the experiment has no log":                                                     41,
		"level=ERROR msg=ingest .*not a recording of a known format: it looks like":                              40,
		"level=ERROR msg=problem reason=missing-file recordings=41 count=41 .* message=\"the experiment has no ": 1,
		"stackmill: ": 1, // the end
	})
}

// countLines counts the lines of a text that begin with an expression.
func countLines(t *testing.T, text string, want map[string]int) {
	t.Helper()
	for what, n := range want {
		if got := regexp.MustCompile("(?m)^(time=\\S+ )?"+what).FindAllString(text, -1); len(got) != n {
			t.Errorf("%d lines begin with %s, not %d", len(got), what, n)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// Flags of watch without it, invalid intervals and unknown formats are wrong usage.
func TestNightUsage(t *testing.T) {
	n := newNight(t)
	for _, args := range [][]string{{"--interval", "1s"}, {"--settle", "1s"}, {"--log-format", "xml"}, {"--watch", "--interval", "0s"}, {"--watch", "--settle", "-1s"}} {
		if code := n.ingest(append(args, n.dir)...); code != exit.Usage {
			t.Errorf("%v: status %d: %s", args, code, n.stderr)
		}
	}
	if code := n.ingest("--watch", filepath.Join(n.dir, "nowhere")); code != exit.Failed || !strings.Contains(n.stderr, "no such file") {
		t.Errorf("status %d: %s", code, n.stderr)
	}
}
