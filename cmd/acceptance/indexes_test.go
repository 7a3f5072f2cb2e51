package acceptance

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/golden"
	"stackmill/queries"
)

// gprofngNames return gprofng's name for the subject of a report's row, without the programs of
// processes: gprofng does not know them for children made by fork.
var gprofngNames = map[string]func(queries.Record) string{
	"sizes":     func(rec queries.Record) string { return squeezed(rec.Text("size_range")) },
	"durations": func(rec queries.Record) string { return squeezed(rec.Text("duration_range")) },
	"samples":   func(rec queries.Record) string { return fmt.Sprint("Sample ", rec.Number("point")) },
	"seconds":   func(rec queries.Record) string { return fmt.Sprint("Second of execution ", rec.Number("t0_ns")/1e9) },
	"processes": func(rec queries.Record) string {
		return squeezed(fmt.Sprintf("Process %d, PID %d", rec.Number("process"), rec.Number("pid")))
	},
}

// squeezed replaces each run of blanks by one blank.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// The objects of gprofng's index tables have the values that it prints.
func TestIndexObjects(t *testing.T) {
	program := regexp.MustCompile(`^.*, Process`)
	for _, test := range []struct{ recording, report string }{
		{"all", "sizes"}, {"all", "durations"}, {"all", "samples"}, {"all", "seconds"},
		{"io", "sizes"}, {"io", "durations"}, {"io", "samples"}, {"io", "seconds"}, {"forkexec", "processes"},
	} {
		tables, err := golden.ReadTables(filepath.Join("testdata", "text", test.recording+"."+test.report+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		units := load(t, shared.DB, experiment(test.recording)).units
		var want, got []string
		for _, r := range tables[0].Rows {
			for i, c := range tables[0].Columns {
				if r.Name != totalFunction && !isZero(r.Values[i]) {
					want = append(want, fmt.Sprint(program.ReplaceAllString(squeezed(r.Name), "Process"), " ", c.Metric, " ", r.Values[i]))
				}
			}
		}
		_, rows := measured(t, test.report, experiment(test.recording))
		for _, rec := range rows {
			for _, c := range tables[0].Columns {
				if rec.Text("metric") == c.Metric {
					got = append(got, fmt.Sprint(gprofngNames[test.report](rec), " ", c.Metric, " ", golden.Print(units[c.Metric], rec.Number("value"))))
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := diff.Diff(want, got); d != "" {
			t.Errorf("%s of %s: gprofng (-) and the report (+) differ:\n%s", test.report, test.recording, d)
		}
	}
}

// The resources of each process equal gprofng's.
func TestStatistics(t *testing.T) {
	blocks := strings.Split(goldenText(t, "forkexec", "statistics.txt"), "\nExperiment: ")[1:]
	_, rows := reported(t, "statistics", experiment("forkexec"))
	if len(blocks) != len(rows) {
		t.Fatalf("%d processes, want %d", len(rows), len(blocks))
	}
	for i, block := range blocks {
		for line, column := range map[string]string{
			"Minor Page Faults": "minor_faults", "Major Page Faults": "major_faults", "Input blocks": "blocks_in", "Output blocks": "blocks_out",
			"Voluntary context switches": "voluntary_switches", "Involuntary context switches": "involuntary_switches",
		} {
			if want := after(block, line+":"); rows[i].Number(column) != want {
				t.Errorf("process %d: %s %d, want %d", i+1, line, rows[i].Number(column), want)
			}
		}
		for line, column := range map[string]string{"User CPU": "user_ns", "System CPU": "system_ns", "Sleep": "sleep_ns", "Total Thread Time (sec.)": "real_ns"} {
			want := fmt.Sprintf("%s: %s", line, golden.Print("ns", rows[i].Number(column)))
			if !strings.Contains(squeezed(block), want+" ") {
				t.Errorf("process %d: gprofng does not say %q", i+1, want)
			}
		}
	}
}

// The list of load objects has all load objects of gprofng's list, except for its two artificial
// ones.
func TestObjectList(t *testing.T) {
	for _, c := range []string{"threads", "plt_lazy", "dlreload", "forkexec"} {
		_, rows := reported(t, "objects", experiment(c))
		listed := regexp.MustCompile(`(?m)^ <(.*)> \((.*)\)$`).FindAllStringSubmatch(goldenText(t, c, "objects.txt"), -1)
		if len(listed) < 4 {
			t.Errorf("%s: gprofng lists only %d objects", c, len(listed))
		}
		for _, m := range listed {
			if m[1] != "Unknown" && m[1] != "DYNAMIC_FUNCTIONS" && !slices.ContainsFunc(rows, func(rec queries.Record) bool { return rec.Text("load_object") == m[1] && rec.Text("path") == m[2] }) {
				t.Errorf("%s: no load object %s (%s)", c, m[1], m[2])
			}
		}
	}
}

// The header and the overview of an experiment equal gprofng's.
func TestHeaderAndOverview(t *testing.T) {
	for _, c := range []string{"threads", "sync", "io", "heap_many"} {
		text := goldenText(t, c, "header.txt")
		_, rows := reported(t, "header", experiment(c))
		rec := rows[0]
		for _, want := range []string{
			fmt.Sprintf("Target command (%d-bit): '%s'", rec.Number("word_bits"), rec.Text("command")),
			fmt.Sprintf("Process pid %d, ", rec.Number("pid")),
			"Current working directory: " + rec.Text("directory"),
			fmt.Sprintf("Collector version: `%s'; experiment version %s", rec.Text("collector"), rec.Text("format_version")),
			fmt.Sprintf("Host `%s', OS `%s', page size %d, architecture `%s'", rec.Text("host"), rec.Text("os"), rec.Number("page_size"), rec.Text("arch")),
			fmt.Sprintf("%d CPUs, clock speed %d MHz.", rec.Number("cpus"), rec.Number("clock_mhz")),
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: gprofng's header does not say %q", c, want)
			}
		}
		_, totals := measured(t, "overview", experiment(c))
		lines := regexp.MustCompile(`(?m)\](.*) - (\w+)(?: \(Seconds\))?: \[\*?([0-9.]+)\]$`).FindAllStringSubmatch(goldenText(t, c, "overview.txt"), -1)
		if len(lines) == 0 {
			t.Errorf("%s: no metrics in gprofng's overview", c)
		}
		for _, m := range lines {
			i := slices.IndexFunc(totals, func(rec queries.Record) bool { return rec.Text("metric") == m[2] })
			if i < 0 || totals[i].Text("title") != m[1] || golden.Print(totals[i].Text("unit"), totals[i].Number("value")) != m[3] {
				t.Errorf("%s: the overview lacks %s %s %s", c, m[1], m[2], m[3])
			}
		}
	}
}

// The objects of a user-defined index sum to <Total>.
func TestIndexOfOnesOwn(t *testing.T) {
	for _, object := range []string{"thread_id % 3", "time_ns // 100_000_000", "kind || program", "CASE WHEN cpu = 0 THEN hour(wall) END"} {
		if n := number(t, shared.DB, `SELECT count(*) FROM (
			SELECT experiment_id, mode, metric FROM (
				SELECT experiment_id, mode, metric, value FROM index_metrics(`+object+`)
				UNION ALL
				SELECT experiment_id, mode, metric, -inclusive FROM function_metrics WHERE function = '<Total>' AND kind = 'artificial'
			) GROUP BY ALL HAVING sum(value) <> 0)`); n != 0 {
			t.Errorf("%s: %d sums are not <Total>", object, n)
		}
	}
}
