package sums

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"stackmill/queries"
	"stackmill/queries/report"
)

// stackValue matches a value above a stack: `Leak #1, Instances = 5, Bytes Leaked = 20` and
// `Read Time=0.000006 (secs.)  Read Bytes=1308  Read Count=12`.
var stackValue = regexp.MustCompile(`([A-Z][A-Za-z/ ]*[a-z]) ?= ?(\d+)(?:[, ]|$)`)

// theirStacks reads a list of stacks, and returns the sums of the values by metric and frames. gprofng
// adds up equal stacks of heap calls in several experiments, but not of I/O; theirStacks adds up both.
func theirStacks(text string) map[string]int64 {
	sums := map[string]int64{}
	for _, block := range strings.Split(strings.TrimSpace(text), "\n\n")[1:] {
		var frames []string
		counts := map[string]int64{}
		for _, line := range strings.Split(block, "\n") {
			switch {
			case strings.HasPrefix(line, "  <static>"): // without a symbol, for which the names differ
			case strings.HasPrefix(line, "  "):
				frames = append(frames, strings.TrimSpace(line))
			default:
				for _, m := range stackValue.FindAllStringSubmatch(line+" ", -1) {
					counts[m[1]], _ = strconv.ParseInt(m[2], 10, 64)
				}
			}
		}
		for name, n := range counts {
			if n > 0 {
				sums[fmt.Sprint(name, " ", frames)] += n
			}
		}
	}
	return sums
}

// ourStacks returns the same sums of a report, of these columns.
func ourStacks(t *testing.T, name string, columns map[string]string) map[string]int64 {
	t.Helper()
	q, rows := ours(t, name, nil)
	frames, err := q.Frames(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]int64{}
	for _, rec := range rows {
		var names []string
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
		for title, c := range columns {
			if n := rec.Number(c); n > 0 {
				sums[fmt.Sprint(title, " ", names)] += n
			}
		}
	}
	return sums
}

func TestStacks(t *testing.T) {
	needRecordings(t)
	for _, test := range []struct {
		command, report string
		columns         map[string]string
	}{
		{"-leaks", "leaks", map[string]string{"Instances": "leaks", "Bytes Leaked": "leaked_bytes"}},
		{"-allocs", "allocations", map[string]string{"Instances": "allocations", "Bytes Allocated": "allocated_bytes"}},
		{"-iocallstack", "io-stacks", map[string]string{
			"Read Bytes": "read_bytes", "Read Count": "reads", "Write Bytes": "written_bytes", "Write Count": "writes", "Other I/O Count": "others",
		}},
	} {
		want, got := theirStacks(theirs(t, test.command)), ourStacks(t, test.report, test.columns)
		if d := diff.Diff(want, got); d != "" || len(want) == 0 {
			t.Errorf("%s: gprofng (-) and the sum (+) differ:\n%s", test.report, d)
		}
	}
}

// after returns the number at the end of the first line that starts with a text.
func after(t *testing.T, text, start string) float64 {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), start); ok {
			return number(t, strings.Fields(rest)[0])
		}
	}
	t.Errorf("gprofng does not print %q", start)
	return -1
}

// rangesOf returns the lines of the tables of size ranges.
func rangesOf(text string) (lines []string) {
	for _, line := range strings.Split(text, "\n") {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "-" {
			lines = append(lines, strings.Join(f, " "))
		}
	}
	return lines
}

func sizesOf(rows []queries.Record, column, value, count string) (lines []string) {
	for _, rec := range rows {
		if rec.Text(column) == value {
			lines = append(lines, fmt.Sprint(rec.Text("size_range"), " ", rec.Number(count)))
		}
	}
	return lines
}

func TestHeapStatistics(t *testing.T) {
	needRecordings(t)
	text := theirs(t, "-heapstat")
	_, processes := ours(t, "heap-statistics", nil)
	if want, got := after(t, text, "Heap size bytes"), processes[0].Number("peak_bytes"); float64(got) != want {
		t.Errorf("the highest peak is of %d bytes, gprofng says %v", got, want)
	}
	if want, got := after(t, text, "Experiment Id"), rank(processes[0])+1; float64(got) != want {
		t.Errorf("the highest peak is in rank %d, gprofng says %v", got, want)
	}
	allocations, leaks, _ := strings.Cut(text, "Memory Leaks")
	_, sizes := ours(t, "heap-sizes", nil)
	for what, of := range map[string]string{"allocation": allocations, "leak": leaks} {
		if d := diff.Diff(rangesOf(of), sizesOf(sizes, "what", what, "blocks")); d != "" {
			t.Errorf("sizes of each %s: %s", what, d)
		}
	}
}

func TestIO(t *testing.T) {
	needRecordings(t)
	table := tables(t, "-metrics", all("e"), "-ioactivity")[0]
	want := withoutTotal(theirValues(t, table, strings.TrimSpace))
	_, rows := ours(t, "io-activity", nil)
	got := values{}
	for _, rec := range rows {
		for metric, column := range map[string]string{
			"ioreadbytes": "read_bytes", "ioreadcnt": "reads", "iowritebytes": "written_bytes", "iowritecnt": "writes", "ioothercnt": "others", "ioerrorcnt": "errors",
		} {
			got[flavored("Excl.", metric, rec.Text("name"))] += float64(rec.Number(column))
		}
		for metric, column := range map[string]string{"ioreadtime": "read_ns", "iowritetime": "write_ns", "ioothertime": "other_ns", "ioerrortime": "error_ns"} {
			got[flavored("Excl.", metric, rec.Text("name"))] += float64(rec.Number(column)) / 1e9
		}
	}
	for name := range want { // columns that gprofng prints only for other objects
		if m := strings.Fields(name)[1]; !strings.HasPrefix(m, "io") {
			delete(want, name)
		}
	}
	compare(t, "I/O by file", want, got)

	text := theirs(t, "-iostat")
	_, parts := ours(t, "io-statistics", nil)
	_, sizes := ours(t, "io-sizes", nil)
	for _, part := range []string{"Write", "Read"} {
		_, block, _ := strings.Cut(text, "\n"+part+" Statistics")
		block, _, _ = strings.Cut(block, " Statistics")
		rec := parts[slices.IndexFunc(parts, func(rec queries.Record) bool { return rec.Text("part") == strings.ToLower(part) })]
		for line, column := range map[string]string{
			"Total calls": "calls", "Total bytes": "bytes",
			"Smallest " + strings.ToLower(part) + " bytes": "smallest_bytes", "Largest " + strings.ToLower(part) + " bytes": "largest_bytes",
		} {
			if want := after(t, block, line); float64(rec.Number(column)) != want {
				t.Errorf("%s: %s is %d, gprofng says %v", part, column, rec.Number(column), want)
			}
		}
		if longest := fmt.Sprintf("%.6f (secs.)", float64(rec.Number("longest_ns"))/1e9); !strings.Contains(block, longest) {
			t.Errorf("%s: the longest took %s, which gprofng does not say", part, longest)
		}
		if d := diff.Diff(rangesOf(block), sizesOf(sizes, "part", rec.Text("part"), "calls")); d != "" {
			t.Errorf("%s: %s", part, d)
		}
	}
}

// TestIODescriptors compares descriptors. gprofng numbers the opened files separately in each
// experiment.
func TestIODescriptors(t *testing.T) {
	needRecordings(t)
	name := regexp.MustCompile(`^(.*) \(IOVFD=\d+(, FD=\d+)?\)$`)
	want := withoutTotal(theirValues(t, tables(t, "-metrics", all("e"), "-iodetail")[0], func(text string) string { return name.ReplaceAllString(text, "$1") }))
	_, rows := ours(t, "io-descriptors", nil)
	got := values{}
	for _, rec := range rows {
		got[flavored("Excl.", "ioreadbytes", rec.Text("name"))] += float64(rec.Number("read_bytes"))
		got[flavored("Excl.", "iowritecnt", rec.Text("name"))] += float64(rec.Number("writes"))
		got[flavored("Excl.", "ioothercnt", rec.Text("name"))] += float64(rec.Number("others"))
	}
	for name := range want {
		if m := strings.Fields(name)[1]; m != "ioreadbytes" && m != "iowritecnt" && m != "ioothercnt" {
			delete(want, name)
		}
	}
	compare(t, "I/O by descriptor", want, got)
}

func TestStatistics(t *testing.T) {
	needRecordings(t)
	text, _, _ := strings.Cut(theirs(t, "-statistics"), "\nExperiment: ")
	if !strings.Contains(text, "<Sum across selected experiments>") {
		t.Fatal("gprofng prints no sum")
	}
	_, rows := ours(t, "statistics", nil)
	if len(rows) != 1 {
		t.Fatalf("%d rows, want one", len(rows))
	}
	for line, column := range map[string]string{
		"Minor Page Faults:": "minor_faults", "Major Page Faults:": "major_faults", "Output blocks:": "blocks_out", "Input blocks:": "blocks_in",
		"Voluntary context switches:": "voluntary_switches", "Involuntary context switches:": "involuntary_switches",
	} {
		if want, got := after(t, text, line), rows[0].Number(column); float64(got) != want {
			t.Errorf("%s is %d, gprofng says %v", column, got, want)
		}
	}
	for line, column := range map[string]string{"User CPU:": "user_ns", "System CPU:": "system_ns", "Sleep:": "sleep_ns", "Total Thread Time (sec.):": "real_ns"} {
		if want, got := after(t, text, line), float64(rows[0].Number(column))/1e9; got-want > rounding || want-got > rounding {
			t.Errorf("%s is %v, gprofng says %v", column, got, want)
		}
	}
}

func TestOverview(t *testing.T) {
	needRecordings(t)
	text := theirs(t, "-overview")
	_, rows := ours(t, "overview", nil)
	lines := regexp.MustCompile(`(?m)\].* - (\w+)(?: \(Seconds\))?: \[\*?([0-9.]+)\]$`).FindAllStringSubmatch(text, -1)
	want, got := values{}, values{}
	for _, m := range lines {
		want[m[1]] = number(t, m[2])
	}
	for _, rec := range rows {
		got[rec.Text("metric")] = base(rec, "value")
	}
	if len(want) < 10 {
		t.Errorf("gprofng prints only %d totals", len(want))
	}
	compare(t, "overview", want, got)
}

func TestObjects(t *testing.T) {
	needRecordings(t)
	listed := regexp.MustCompile(`(?m)^ <(.*)> \((.*)\)$`).FindAllStringSubmatch(theirs(t, "-objects"), -1)
	_, rows := ours(t, "objects", nil)
	seen := map[string]int{}
	for _, rec := range rows {
		if seen[rec.Text("load_object")]++; seen[rec.Text("load_object")] > 1 {
			t.Errorf("%s is listed twice", rec.Text("load_object"))
		}
	}
	if len(listed) < 5 {
		t.Errorf("gprofng lists only %d load objects", len(listed))
	}
	for _, m := range listed {
		if m[1] != "Unknown" && m[1] != "DYNAMIC_FUNCTIONS" && seen[m[1]] == 0 {
			t.Errorf("no load object %s", m[1])
		}
	}
}

// valued matches a line of annotated source or disassembly that has values.
var (
	sourceLine = regexp.MustCompile(`^(?:##)? *((?:[0-9.]+ +){6})(\d+)\. `)
	codeLine   = regexp.MustCompile(`^(?:##)? *((?:[0-9.]+ +){6})\[ *\d+\] +([0-9a-f]+): `)
)

// listed returns the values of a listing by line or address, of the columns of metrics.
func listed(t *testing.T, text string, line *regexp.Regexp, number10 int) values {
	t.Helper()
	v := values{}
	for _, l := range strings.Split(text, "\n") {
		m := line.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		at, err := strconv.ParseInt(m[2], number10, 64)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range strings.Fields(m[1]) {
			v[fmt.Sprint(listedColumns[i], " ", at)] += number(t, f)
		}
	}
	return v
}

const listedMetrics = "e.totalcpu:i.totalcpu:i+heapallocbytes:i+heapalloccnt:i+heapleakcnt:i+syncn:name"

var listedColumns = []string{"exclusive totalcpu", "inclusive totalcpu", "inclusive heapallocbytes", "inclusive heapalloccnt", "inclusive heapleakcnt", "inclusive syncn"}

// listing returns the same values of a report.
func listing(rows []queries.Record, at string) values {
	v := values{}
	for _, rec := range rows {
		for _, c := range listedColumns {
			if column, metric, _ := strings.Cut(c, " "); metric == rec.Text("metric") {
				v[fmt.Sprint(c, " ", rec.Number(at))] += base(rec, column)
			}
		}
	}
	return v
}

func TestListings(t *testing.T) {
	needRecordings(t)
	want := listed(t, theirs(t, "-metrics", listedMetrics, "-source", "keep"), sourceLine, 10)
	_, rows := ours(t, "source", func(r *report.Request) { r.File = "ranks.c" })
	if len(want) < 100 {
		t.Errorf("gprofng prints only %d values of the source", len(want))
	}
	compare(t, "source", want, listing(rows, "line"))
	for _, function := range []string{"keep", "spin", "main", "wait_for"} {
		want := listed(t, theirs(t, "-metrics", listedMetrics, "-disasm", function), codeLine, 16)
		_, rows := ours(t, "disasm", func(r *report.Request) { r.Function = function })
		if len(want) < 20 {
			t.Errorf("gprofng prints only %d values of the instructions of %s", len(want), function)
		}
		compare(t, "disasm of "+function, want, listing(rows, "address"))
	}
}
