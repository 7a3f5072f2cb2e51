package acceptance

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/golden"
	"stackmill/queries"
	"stackmill/queries/report"
)

// reported returns the rows of a report of one experiment.
func reported(t *testing.T, name, experiment string) (*report.Question, []queries.Record) {
	t.Helper()
	return asked(t, name, experiment, "")
}

// measured is the same as reported, but for all metrics.
func measured(t *testing.T, name, experiment string) (*report.Question, []queries.Record) {
	t.Helper()
	return asked(t, name, experiment, "all")
}

func asked(t *testing.T, name, experiment, metric string) (*report.Question, []queries.Record) {
	t.Helper()
	r, err := report.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	q, err := report.Ask(t.Context(), shared, &report.Request{Report: r, Metric: metric, Mode: "user", Alias: "gprofng", Width: report.Defaults().Width})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := q.Drawing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return q, slices.DeleteFunc(rows, func(rec queries.Record) bool { return rec.Text("experiment") != experiment })
}

// goldenText reads a text that gprofng printed: from the goldens, or from this test's folder.
func goldenText(t *testing.T, c, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(recordings, "golden", c, name))
	if os.IsNotExist(err) {
		text, err = os.ReadFile(filepath.Join("testdata", "text", c+"."+name))
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var numbersIn = regexp.MustCompile(`(?:= ?|: ?)([0-9.]+)`)

// numbersOf returns the numbers after equals signs in a line of a golden text.
func numbersOf(line string) (numbers []string) {
	for _, m := range numbersIn.FindAllStringSubmatch(line, -1) {
		numbers = append(numbers, m[1])
	}
	return numbers
}

// goldenStacks reads a list of stacks: for each the first line's numbers and the frames
// that gprofng names.
func goldenStacks(text string) (stacks []string) {
	for _, block := range strings.Split(strings.TrimSpace(text), "\n\n")[1:] {
		lines := strings.Split(block, "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		frames := slices.DeleteFunc(lines[1:], func(f string) bool { return strings.HasPrefix(f, "<static>") })
		stacks = append(stacks, fmt.Sprint(numbersOf(lines[0]), frames))
	}
	slices.Sort(stacks)
	return stacks
}

// ownStacks formats the rows of a report of stacks like goldenStacks, without frames of functions
// that gprofng does not name.
func ownStacks(t *testing.T, q *report.Question, rows []queries.Record, values ...string) (stacks []string) {
	t.Helper()
	frames, err := q.Frames(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range rows {
		var numbers, names []string
		for _, v := range values {
			numbers = append(numbers, strconv.FormatInt(rec.Number(v), 10))
		}
		for _, f := range frames[rec.Number("stack_id")] {
			if strings.HasPrefix(f.Text("name"), "<static>") {
				continue
			}
			place := fmt.Sprintf("%s + 0x%08X", f.Text("name"), f.Number("distance"))
			if n := f.Number("line"); n > 0 {
				place += fmt.Sprintf(", line %d in %q", n, filepath.Base(f.Text("file")))
			}
			names = append(names, place)
		}
		stacks = append(stacks, fmt.Sprint(numbers, names))
	}
	slices.Sort(stacks)
	return stacks
}

// The lists of leaks and allocations equal gprofng's, except for blocks moved by realloc, which
// gprofng takes for leaks.
func TestHeapStacks(t *testing.T) {
	for _, c := range []string{"heap", "heap_many", "all"} {
		for name, values := range map[string][]string{
			"leaks": {"leaks", "leaked_bytes"}, "allocations": {"allocations", "allocated_bytes"},
		} {
			file := map[string]string{"leaks": "leaks.txt", "allocations": "allocs.txt"}[name]
			q, rows := reported(t, name, experiment(c))
			want := goldenStacks(goldenText(t, c, file))
			if c == "heap" && name == "leaks" {
				want = slices.DeleteFunc(want, func(s string) bool { return strings.Contains(s, "realloc + ") })
			}
			got := ownStacks(t, q, rows, values...)
			if c == "all" { // S12 adds frames, and lines are inside inlined functions (noLines)
				want, got = withoutCallers(want), withoutCallers(got)
			}
			if d := diff.Diff(want, got); d != "" {
				t.Errorf("%s of %s: gprofng (-) and the report (+) differ:\n%s", name, c, d)
			}
		}
	}
}

// withoutCallers removes the callers from stacks.
func withoutCallers(stacks []string) (found []string) {
	for _, s := range stacks {
		fields := strings.Fields(s)
		found = append(found, strings.Join(fields[:5], " "))
	}
	return found
}

// after returns the number at the end of the line that starts with a text.
func after(text, start string) int64 {
	for _, line := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), start); ok {
			n, _ := strconv.ParseInt(cmp.Or(strings.Fields(rest)...), 10, 64)
			return n
		}
	}
	return -1
}

// ranges returns the lines of the tables of size ranges.
func ranges(text string) (lines []string) {
	for _, line := range strings.Split(text, "\n") {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "-" {
			lines = append(lines, strings.Join(f, " "))
		}
	}
	return lines
}

// sizesOf formats the rows of a report of sizes like ranges.
func sizesOf(rows []queries.Record, column, value, count string) (lines []string) {
	for _, rec := range rows {
		if rec.Text(column) == value {
			lines = append(lines, fmt.Sprint(rec.Text("size_range"), " ", rec.Number(count)))
		}
	}
	return lines
}

// The heap statistics equal gprofng's, except for blocks moved by realloc: TestTruth checks their
// leaks, and the peak lacks them.
func TestHeapStatistics(t *testing.T) {
	moved := map[string]int64{"heap": 81536}
	for _, c := range []string{"heap", "heap_many", "all"} {
		text := goldenText(t, c, "heapstat.txt")
		_, processes := reported(t, "heap-statistics", experiment(c))
		highest := processes[0]
		if want, got := after(text, "Heap size bytes")-moved[c], highest.Number("peak_bytes"); got != want {
			t.Errorf("%s: peak of %d bytes, want %d", c, got, want)
		}
		if want, got := after(text, "Process Id"), highest.Number("pid"); got != want {
			t.Errorf("%s: peak in %d, want %d", c, got, want)
		}
		if at := fmt.Sprintf("%.3f (secs.)", float64(highest.Number("peak_ns"))/1e9); !strings.Contains(text, at) {
			t.Errorf("%s: peak at %s, which gprofng does not say", c, at)
		}
		var n, bytes, largest int64
		for _, p := range processes {
			n, bytes, largest = n+p.Number("allocations"), bytes+p.Number("allocated_bytes"), max(largest, p.Number("largest_bytes"))
		}
		for line, got := range map[string]int64{"Total allocations": n, "Total bytes": bytes, "Largest allocation bytes": largest} {
			if want := after(text, line); got != want {
				t.Errorf("%s: %s %d, want %d", c, line, got, want)
			}
		}
		ofAllocations, ofLeaks, _ := strings.Cut(text, "Memory Leaks")
		_, sizes := reported(t, "heap-sizes", experiment(c))
		if d := diff.Diff(ranges(ofAllocations), sizesOf(sizes, "what", "allocation", "blocks")); d != "" {
			t.Errorf("%s: allocations: %s", c, d)
		}
		if d := diff.Diff(ranges(ofLeaks), sizesOf(sizes, "what", "leak", "blocks")); d != "" && moved[c] == 0 {
			t.Errorf("%s: leaks: %s", c, d)
		}
	}
}

// I/O by file and by descriptor equal gprofng's, with these differences: gprofng adds up
// nanoseconds, the metrics whole microseconds of each call (8.1); gprofng skips calls that make a
// pipe, so that reading from it counts for the descriptor's previous file; here, calls on closed
// descriptors have a separate row.
func TestIOByFile(t *testing.T) {
	for _, test := range []struct{ report, file string }{{"io-activity", "ioactivity.txt"}, {"io-descriptors", "iodetail.txt"}} {
		tables, err := golden.ReadTables(filepath.Join(recordings, "golden", "io", test.file))
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		differ := regexp.MustCompile(`pipe\(\)|tmp_io2.txt|no open file|<Total>`)
		for _, r := range tables[0].Rows {
			name := regexp.MustCompile(`^(.*) \(IOVFD=(\d+)(, FD=\d+)?\)$`).ReplaceAllString(r.Name, "$1 $2")
			if !differ.MatchString(name) {
				want = append(want, fmt.Sprint(name, r.Values))
			}
		}
		_, rows := reported(t, test.report, experiment("io"))
		for _, rec := range rows {
			whole := wholeTimes(t, rec)
			name := rec.Text("name")
			if test.report == "io-descriptors" {
				name += fmt.Sprint(" ", rec.Number("file"))
			}
			var values []string
			for i, c := range []string{"read", "write", "other", "error"} {
				values = append(values, golden.Print("ns", whole[i]))
				if lost := whole[i] - rec.Number(c+"_ns"); lost < 0 || lost > 1000*rec.Number(c+"s") {
					t.Errorf("%s: %d ns of %ss are lost", name, lost, c)
				}
			}
			if !differ.MatchString(name) {
				got = append(got, fmt.Sprint(name, values))
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := diff.Diff(want, got); d != "" || len(got) < 3 {
			t.Errorf("%s: gprofng (-) and the report (+) differ:\n%s", test.report, d)
		}
	}
}

// wholeTimes returns the nanoseconds of a row's reads, writes, other calls and errors.
func wholeTimes(t *testing.T, rec queries.Record) (times [4]int64) {
	t.Helper()
	file := rec["file"]
	query(t, shared.DB, func(r row) error { return r.Scan(&times[0], &times[1], &times[2], &times[3]) }, `
		SELECT COALESCE(sum(duration_ns) FILTER (part = 'read'), 0)::BIGINT, COALESCE(sum(duration_ns) FILTER (part = 'write'), 0)::BIGINT,
			COALESCE(sum(duration_ns) FILTER (part = 'other'), 0)::BIGINT, COALESCE(sum(duration_ns) FILTER (part = 'error'), 0)::BIGINT
		FROM io_calls WHERE experiment = ? AND name = ? AND COALESCE(file = ?, true)`, rec.Text("experiment"), rec.Text("name"), file)
	return times
}

// I/O by stack has gprofng's counts and bytes. gprofng adds up nanoseconds, the metrics whole
// microseconds of each call (8.1). gprofng skips calls that make a pipe, or close a closed
// descriptor.
func TestIOStacks(t *testing.T) {
	stacks := func(text string) (found []string) {
		for _, block := range strings.Split(strings.TrimSpace(text), "\n\n")[1:] {
			lines := strings.Split(block, "\n")
			counts := map[string]string{}
			for len(lines) > 0 && !strings.Contains(lines[0], "  ") || strings.Contains(lines[0], "=") {
				for _, m := range regexp.MustCompile(`([A-Z][A-Za-z/ ]+)=(\d+)(?: |$)`).FindAllStringSubmatch(lines[0], -1) {
					counts[strings.TrimSpace(m[1])] = m[2]
				}
				lines = lines[1:]
			}
			found = append(found, fmt.Sprint(counts, strings.TrimSpace(lines[0]), strings.TrimSpace(lines[1])))
		}
		slices.Sort(found)
		return found
	}
	want := stacks(goldenText(t, "io", "iocallstack.txt"))
	q, rows := reported(t, "io-stacks", experiment("io"))
	frames, err := q.Frames(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rec := range rows {
		counts := map[string]string{}
		for name, column := range map[string]string{
			"Read Bytes": "read_bytes", "Read Count": "reads", "Write Bytes": "written_bytes", "Write Count": "writes",
			"Other I/O Count": "others", "I/O Error Count": "errors",
		} {
			if n := rec.Number(column); n > 0 {
				counts[name] = strconv.FormatInt(n, 10)
			}
		}
		f := frames[rec.Number("stack_id")]
		place := fmt.Sprintf("%s + 0x%08X", f[1].Text("name"), f[1].Number("distance"))
		if n := f[1].Number("line"); n > 0 {
			place += fmt.Sprintf(", line %d in %q", n, filepath.Base(f[1].Text("file")))
		}
		got = append(got, fmt.Sprint(counts, fmt.Sprintf("%s + 0x%08X", f[0].Text("name"), f[0].Number("distance")), place))
	}
	slices.Sort(got)
	got = slices.DeleteFunc(got, func(s string) bool { return strings.Contains(s, "pipe + ") || strings.Contains(s, "fclose + ") })
	want = slices.DeleteFunc(want, func(s string) bool { return strings.Contains(s, "pipe + ") || strings.Contains(s, "fclose + ") })
	if d := diff.Diff(want, got); d != "" {
		t.Errorf("gprofng (-) and the report (+) differ:\n%s", d)
	}
}

// The I/O statistics have gprofng's counts, bytes, sizes and longest calls.
func TestIOStatistics(t *testing.T) {
	text := goldenText(t, "io", "iostat.txt")
	_, rows := reported(t, "io-statistics", experiment("io"))
	_, sizes := reported(t, "io-sizes", experiment("io"))
	for i, part := range []string{"Write", "Read", "I/O Error"} {
		_, block, _ := strings.Cut(text, "\n"+part+" Statistics")
		block, _, _ = strings.Cut(block, " Statistics")
		rec := rows[slices.IndexFunc(rows, func(rec queries.Record) bool {
			return rec.Text("part") == []string{"write", "read", "error"}[i]
		})]
		for line, column := range map[string]string{
			"Total calls": "calls", "Total bytes": "bytes",
			"Smallest " + strings.ToLower(part) + " bytes": "smallest_bytes", "Largest " + strings.ToLower(part) + " bytes": "largest_bytes",
		} {
			if want := after(block, line); want >= 0 && rec.Number(column) != want {
				t.Errorf("%s: %s %d, want %d", part, column, rec.Number(column), want)
			}
		}
		if longest := fmt.Sprintf("%.6f (secs.)", float64(rec.Number("longest_ns"))/1e9); i < 2 && !strings.Contains(block, longest) {
			t.Errorf("%s: the longest took %s, which gprofng does not say", part, longest)
		}
		if d := diff.Diff(ranges(block), sizesOf(sizes, "part", rec.Text("part"), "calls")); d != "" {
			t.Errorf("%s: %s", part, d)
		}
	}
}

// Traced calls are waits of the functions that were traced: their times are the metrics sync and I/O.
func TestTracedWaits(t *testing.T) {
	const query = `WITH metric_times AS (
		SELECT experiment, function, sum(exclusive) AS ns FROM function_metrics
		WHERE mode = 'user' AND metric IN ('sync', 'ioreadtime', 'iowritetime', 'ioothertime', 'ioerrortime') AND kind <> 'artificial' AND exclusive > 0 GROUP BY ALL
	), waited AS (
		SELECT experiment, function, sum(wait_ns) AS ns FROM waits WHERE mode = 'user' AND state = 'blocked' GROUP BY ALL
	) SELECT count(*), count(*) FILTER (m.ns IS DISTINCT FROM w.ns), count(DISTINCT m.experiment) FROM metric_times m FULL JOIN waited w USING (experiment, function)`
	var functions, wrong, experiments int
	if err := shared.QueryRow(query).Scan(&functions, &wrong, &experiments); err != nil || functions < 10 || wrong > 0 || experiments < 2 {
		t.Errorf("%d functions waited in %d experiments, %d of them not as long as their metrics say: %v", functions, experiments, wrong, err)
	}
}

// Objects for which threads waited have the names of the program's variables.
func TestSyncVariables(t *testing.T) {
	var names string
	err := shared.QueryRow(`SELECT string_agg(variable, ' ' ORDER BY variable) FROM sync_objects WHERE experiment = 'sync.er'`).Scan(&names)
	if err != nil || names != "cm m" {
		t.Errorf("the variables are %q: %v", names, err)
	}
}
