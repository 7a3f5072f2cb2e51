package filters

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/queries"
)

// output runs a peer; it skips the test if the peer is not installed.
func output(t *testing.T, name string, args ...string) []string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("no %s", name)
	}
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return strings.Split(string(out), "\n")
}

// gprofngRow matches a function of the program in gprofng's list: seconds, percentages, name.
var gprofngRow = regexp.MustCompile(`^\s*([\d.]+)\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s+(<Total>|main|shared_work|only_a|worker_[abc])$`)

// gprofng lists the same functions for selected threads and times. It numbers threads in order of
// appearance.
func TestGprofng(t *testing.T) {
	recording := filepath.Join(from, "threads.er")
	listed := func(filter string) string {
		var list []string
		for _, line := range output(t, "gprofng", "display", "text", "-filters", filter, "-functions", recording) {
			if m := gprofngRow.FindStringSubmatch(line); m != nil {
				own, _ := strconv.ParseFloat(m[1], 64)
				all, _ := strconv.ParseFloat(m[2], 64)
				list = append(list, fmt.Sprintf("%s %.3f %.3f", m[3], own, all))
			}
		}
		slices.Sort(list)
		return strings.Join(list, "\n")
	}
	left := func(f queries.Filter) string {
		list := texts(t, narrow(t, f, "function_metrics").DB, `SELECT printf('%s %.3f %.3f', "function", exclusive / 1e9, inclusive / 1e9) FROM function_metrics
			WHERE mode = 'user' AND experiment = 'threads.er' AND ("function" = '<Total>' OR "function" IN ('main', 'shared_work', 'only_a', 'worker_a', 'worker_b', 'worker_c'))`)
		slices.Sort(list)
		return strings.Join(list, "\n")
	}
	var want, got []string
	for n, id := range texts(t, store.DB, "SELECT DISTINCT thread_id::VARCHAR FROM thread_metrics WHERE experiment = 'threads.er'") {
		thread, _ := strconv.ParseInt(id, 10, 64)
		want, got = append(want, listed(fmt.Sprintf("THRID==%d", n+1))), append(got, left(queries.Filter{Threads: []int64{thread}}))
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) < 4 || !slices.Equal(want, got) {
		t.Errorf("the threads have\n%s\nwant\n%s", strings.Join(got, "\n--\n"), strings.Join(want, "\n--\n"))
	}
	for _, c := range []struct{ gprofng, between string }{{"TSTAMP<500000000", ",0.5s"}, {"TSTAMP>=500000000 && TSTAMP<1500000000", "500ms,1.5"}} {
		if want, got := listed(c.gprofng), left(queries.Filter{Between: []string{c.between}}); want != got {
			t.Errorf("%s: got\n%s\nwant\n%s", c.between, got, want)
		}
	}
}

// perf counts the same samples by function, for selected threads and times.
func TestPerf(t *testing.T) {
	const experiment = "p_threads_s.data"
	input := []string{"-i", filepath.Join(from, "perf", experiment), "--symfs", filepath.Join(from, "symfs")}
	row := regexp.MustCompile(`^\s*(\d+)\s+(\d+):\S+\s+\[\.\]\s+(\S+)\s*$`)
	listed := func(filter ...string) string {
		var list []string
		for _, line := range output(t, "perf", slices.Concat([]string{"report"}, input, []string{"--stdio", "--no-children", "-g", "none", "-F", "sample,pid,sym"}, filter)...) {
			if m := row.FindStringSubmatch(line); m != nil {
				list = append(list, m[2]+" "+m[3]+" "+m[1])
			}
		}
		slices.Sort(list)
		return strings.Join(list, "\n")
	}
	left := func(f queries.Filter) string {
		list := texts(t, narrow(t, f, "function_metrics").DB, `SELECT printf('%d %s %d', s.thread_id, f.name, count(*)) FROM samples s JOIN experiment_names n USING (experiment_id)
			JOIN mode_leaves l ON l.experiment_id = s.experiment_id AND l.stack = s.stack AND l.mode = 'user'
			JOIN mode_nodes d ON d.experiment_id = s.experiment_id AND d.mode = 'user' AND d.node = l.node
			JOIN locations_wide o ON o.experiment_id = s.experiment_id AND o.location = d.location JOIN functions f ON f.experiment_id = s.experiment_id AND f.function_id = o.function_id
			WHERE n.experiment = '`+experiment+`' GROUP BY s.thread_id, f.name`)
		slices.Sort(list)
		return strings.Join(list, "\n")
	}
	const samples = "FROM samples JOIN experiment_names USING (experiment_id) WHERE experiment = '" + experiment + "'"
	for _, id := range texts(t, store.DB, "SELECT DISTINCT thread_id::VARCHAR "+samples) {
		thread, _ := strconv.ParseInt(id, 10, 64)
		if want, got := listed("--tid", id), left(queries.Filter{Threads: []int64{thread}}); want == "" || want != got {
			t.Errorf("thread %s: got\n%s\nwant\n%s", id, got, want)
		}
	}

	// Times between two samples, by both clocks.
	var times []float64
	for _, line := range output(t, "perf", slices.Concat([]string{"script"}, input, []string{"-F", "time", "-G", "--ns"})...) {
		if s, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(line), ":"), 64); err == nil {
			times = append(times, s)
		}
	}
	slices.Sort(times)
	ours := texts(t, store.DB, "SELECT time_ns::VARCHAR "+samples+" ORDER BY time_ns")
	if len(ours) != len(times) {
		t.Fatalf("perf has %d samples, want %d", len(times), len(ours))
	}
	for _, k := range []int{len(times) / 3, len(times) / 2} {
		for times[k+1]-times[k] < 1e-5 {
			k++
		}
		a, _ := strconv.ParseInt(ours[k], 10, 64)
		b, _ := strconv.ParseInt(ours[k+1], 10, 64)
		want, got := listed("--time", fmt.Sprintf(",%.9f", (times[k]+times[k+1])/2)), left(queries.Filter{Between: []string{fmt.Sprintf(",%dns", (a+b)/2)}})
		if want == "" || want != got {
			t.Errorf("until sample %d: got\n%s\nwant\n%s", k, got, want)
		}
	}
}
