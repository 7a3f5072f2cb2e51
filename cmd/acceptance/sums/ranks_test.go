// Package sums compares sums over experiments with the output of gprofng and perf for the same
// recordings.
package sums

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/golden"
	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/report"
)

const ranks = 10

// The shared recordings: ten runs of one program, each with other arguments, as the ranks of a
// parallel job.
var (
	gprofng      string
	recordings   []string
	shared       *queries.DB
	errNoGprofng error // why there are no recordings
)

func TestMain(m *testing.M) {
	suite.Main(m, func(folder string) (*queries.DB, error) {
		if gprofng, errNoGprofng = exec.LookPath("gprofng"); errNoGprofng != nil {
			if os.Getenv("STACKMILL_REQUIRE_GPROFNG") == "1" {
				return nil, errNoGprofng
			}
			return suite.Open(pipeline.Options{Store: filepath.Join(folder, "store")}) // an empty store
		}
		if err := record(folder); err != nil {
			return nil, err
		}
		var err error
		shared, err = suite.Open(pipeline.Options{Store: filepath.Join(folder, "store"), Cache: filepath.Join(folder, "cache")}, recordings...)
		return shared, err
	})
}

// record builds the program and records its ranks: clock profiling, heap, waits and I/O.
func record(folder string) error {
	source, inputs := filepath.Join("testdata", "ranks.c"), filepath.Join("..", "..", "peers", "testdata", "inputs")
	clock, program := filepath.Join(folder, "clock.so"), filepath.Join(folder, "ranks")
	commands := [][]string{
		{"gcc", "-gdwarf-4", "-O1", "-pthread", "-o", program, source},
		{"gcc", "-O2", "-fPIC", "-shared", "-Wl,--version-script=" + filepath.Join(inputs, "hrtick.map"), "-o", clock, filepath.Join(inputs, "hrtick.c")},
	}
	for rank := range ranks {
		path := filepath.Join(folder, fmt.Sprintf("rank%d.er", rank))
		recordings = append(recordings, path)
		commands = append(commands, []string{"env", "LD_PRELOAD=" + clock, gprofng, "collect", "app", "-p", "on", "-H", "on", "-i", "on", "-s", "on", "-O", path, program, strconv.Itoa(rank)})
	}
	for _, args := range commands {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", args, err, out)
		}
	}
	return nil
}

func needRecordings(t *testing.T) {
	t.Helper()
	if errNoGprofng != nil {
		t.Skip(errNoGprofng)
	}
}

// theirs returns gprofng's output about all ranks together.
func theirs(t *testing.T, commands ...string) string {
	t.Helper()
	args := append([]string{"display", "text", "-limit", "0"}, commands...)
	cmd := exec.Command(gprofng, append(args, recordings...)...)
	out, err := cmd.Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		t.Fatalf("%v: %v\n%s", cmd, err, failed.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// tables returns the tables that gprofng prints.
func tables(t *testing.T, commands ...string) []golden.Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(theirs(t, commands...)), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := golden.ReadTables(path)
	if err != nil || len(found) == 0 {
		t.Fatalf("%v: %d tables: %v", commands, len(found), err)
	}
	return found
}

// ours returns the rows of a report, summed over all ranks.
func ours(t *testing.T, name string, change func(*report.Request)) (*report.Question, []queries.Record) {
	t.Helper()
	r := report.Defaults()
	r.Metric, r.Alias, r.Sum = "all", "gprofng", true
	if change != nil {
		change(&r)
	}
	var err error
	if r.Report, err = report.Find(name); err != nil {
		t.Fatal(err)
	}
	if !r.Measured() {
		r.Metric = ""
	}
	q, err := report.Ask(t.Context(), shared, &r)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := q.Drawing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no rows", name)
	}
	return q, rows
}

// values maps names of functions, lines or other things to sums of values.
type values map[string]float64

// number parses a value as gprofng prints it.
func number(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.TrimSuffix(text, "."), 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// base returns a value in the unit in which gprofng prints it.
func base(rec queries.Record, column string) float64 {
	if rec.Text("unit") == "ns" {
		return float64(rec.Number(column)) / 1e9
	}
	return float64(rec.Number(column))
}

// rounding is the largest difference between the sum of a few printed times and the exact sum.
const rounding = 0.006

// unbounded matches values that are not compared: inclusive values and calls of functions without
// symbols. gprofng and the store bound such functions differently (gprofng-experiment 6.6), so that a
// stack may have one of them where the other has two. Their exclusive values are compared by load object.
var unbounded = regexp.MustCompile(`^(Incl\..*<static>|\w+: .*<static>)`)

// inCollector matches values of clock ticks in the collector's own code, below the functions that it
// traces. These are not compared for the same reason. Other metrics have no values there.
var inCollector = regexp.MustCompile(`totalcpu.*(__collector|<static> of libgp|\b(open|read|write|close|lseek|unlink|malloc|calloc|realloc|free|pwrite|mmap|pthread_\w+)\b)`)

func compare(t *testing.T, what string, want, got values) {
	t.Helper()
	for _, v := range []values{want, got} {
		maps.DeleteFunc(v, func(name string, _ float64) bool { return unbounded.MatchString(name) || inCollector.MatchString(name) })
	}
	for name, w := range want {
		if g, ok := got[name]; !ok && w != 0 {
			t.Errorf("%s: no %s, gprofng says %v", what, name, w)
		} else if math.Abs(g-w) > rounding {
			t.Errorf("%s: %s is %v, gprofng says %v", what, name, g, w)
		}
	}
	for name, g := range got {
		if _, ok := want[name]; !ok && g != 0 {
			t.Errorf("%s: %s is %v, gprofng does not have it", what, name, g)
		}
	}
}

// all returns the metrics as arguments of gprofng's command, with flavors such as e.
func all(flavors ...string) string {
	var list []string
	for _, m := range strings.Fields("totalcpu sync syncn heapallocbytes heapalloccnt heapleakbytes heapleakcnt ioreadtime ioreadbytes ioreadcnt iowritetime iowritebytes iowritecnt ioothertime ioothercnt ioerrortime ioerrorcnt") {
		visible := "+"
		if m == "totalcpu" || m == "sync" || strings.HasSuffix(m, "time") {
			visible = "."
		}
		for _, f := range flavors {
			list = append(list, f+visible+m)
		}
	}
	return strings.Join(list, ":") + ":name"
}

var ofObject = regexp.MustCompile(`^<static>@0x[0-9a-f]+ \(<(.*)>\)`)

// theirName returns gprofng's name of a function, without parts that differ. Functions without symbols
// have one name for each load object, because gprofng and the store bound them differently
// (gprofng-experiment 6.6).
func theirName(name string) string {
	if m := ofObject.FindStringSubmatch(name); m != nil {
		return "<static> of " + m[1]
	}
	name, _, _ = strings.Cut(name, " (<")
	return name
}

func ourName(rec queries.Record, column string) string {
	name := rec.Text(column)
	if strings.HasPrefix(name, "<static>@") {
		return "<static> of " + rec.Text("load_object")
	}
	return name
}

// flavored returns the name of a value.
func flavored(flavor, metric, name string) string { return flavor + " " + metric + " " + name }

// theirValues returns a table's values by name.
func theirValues(t *testing.T, table golden.Table, name func(string) string) values {
	t.Helper()
	v := values{}
	for i, c := range table.Columns {
		for _, r := range table.Rows {
			v[flavored(c.Flavor, c.Metric, name(r.Name))] += number(t, r.Values[i])
		}
	}
	return v
}

// ourValues returns the exclusive and inclusive values of rows by name.
func ourValues(rows []queries.Record, name func(queries.Record) string) values {
	v := values{}
	for _, rec := range rows {
		v[flavored("Excl.", rec.Text("metric"), name(rec))] += base(rec, "exclusive")
		v[flavored("Incl.", rec.Text("metric"), name(rec))] += base(rec, "inclusive")
	}
	return v
}

func TestFunctions(t *testing.T) {
	needRecordings(t)
	want := theirValues(t, tables(t, "-metrics", all("e", "i"), "-functions")[0], theirName)
	_, rows := ours(t, "functions", nil)
	compare(t, "functions", want, ourValues(rows, func(rec queries.Record) string { return ourName(rec, "function") }))
}

func TestLines(t *testing.T) {
	needRecordings(t)
	want := theirValues(t, tables(t, "-metrics", all("e", "i"), "-lines")[0], func(name string) string {
		function, line, file := golden.Line(name)
		return place(theirName(function), line, file)
	})
	_, rows := ours(t, "lines", nil)
	compare(t, "lines", withoutTotal(want), ourValues(rows, func(rec queries.Record) string {
		return place(rec.Text("function"), int(rec.Number("line")), rec.Text("file"))
	}))
}

// place returns the name of a line.
func place(function string, line int, file string) string {
	if strings.HasPrefix(function, "<static>") {
		function = "<static>" // lines do not name their load object
	}
	if line == 0 {
		return function
	}
	return fmt.Sprintf("%s, line %d in %s", function, line, filepath.Base(file))
}

// withoutTotal removes the values of <Total>, which some reports have for tables only.
func withoutTotal(v values) values {
	for name := range v {
		if strings.HasSuffix(name, " <Total>") {
			delete(v, name)
		}
	}
	return v
}

func TestPCs(t *testing.T) {
	needRecordings(t)
	want := theirValues(t, tables(t, "-metrics", all("e", "i"), "-pcs")[0], func(name string) string {
		function, offset, _, _, _ := golden.PC(name)
		return instruction(theirName(function), offset)
	})
	starts := map[int64]int64{}
	_, functions := ours(t, "functions", nil)
	for _, rec := range functions {
		starts[rec.Number("function_id")] = rec.Number("address")
	}
	_, rows := ours(t, "pcs", nil)
	compare(t, "pcs", withoutTotal(want), ourValues(rows, func(rec queries.Record) string {
		return instruction(ourName(rec, "function"), rec.Number("code_offset")-starts[rec.Number("function_id")])
	}))
}

// instruction returns the name of an instruction. All instructions of functions without symbols have
// the same name, so that they are added up.
func instruction(function string, offset int64) string {
	if strings.HasPrefix(function, "<") {
		return function
	}
	return fmt.Sprintf("%s + %#x", function, offset)
}

func TestCallersCallees(t *testing.T) {
	needRecordings(t)
	want := values{}
	for _, block := range tables(t, "-metrics", all("i"), "-callers-callees") {
		star := slices.IndexFunc(block.Rows, func(r golden.Row) bool { return r.Star })
		of := theirName(block.Rows[star].Name)
		for i, r := range block.Rows {
			relation := "self"
			if i != star {
				relation = map[bool]string{true: "caller", false: "callee"}[i < star]
			}
			for k, c := range block.Columns {
				want[fmt.Sprint(c.Metric, ": ", of, " ", relation, " ", theirName(r.Name))] += number(t, r.Values[k])
			}
		}
	}
	_, rows := ours(t, "callers-callees", nil)
	objects := map[string]string{}
	_, functions := ours(t, "functions", nil)
	for _, rec := range functions {
		objects[rec.Text("function")] = rec.Text("load_object")
	}
	name := func(function string) string {
		return ourName(queries.Record{"function": function, "load_object": objects[function]}, "function")
	}
	got := values{}
	for _, rec := range rows {
		got[fmt.Sprint(rec.Text("metric"), ": ", name(rec.Text("function")), " ", rec.Text("relation"), " ", name(rec.Text("other")))] += base(rec, "attributed")
	}
	compare(t, "callers and callees", want, got)
}

func TestCallTree(t *testing.T) {
	needRecordings(t)
	metrics := "i.totalcpu:i+heapallocbytes:i+heapalloccnt:i+heapleakcnt:i+syncn:i+ioreadbytes:i+iowritecnt:name"
	table := tables(t, "-metrics", metrics, "-calltree")[0]
	want := values{}
	var paths []string // by depth
	for _, r := range table.Rows {
		p, same := below(append([]string{""}, paths...)[min(r.Depth, len(paths))], theirName(r.Name))
		paths = append(paths[:r.Depth], p)
		for k, c := range table.Columns {
			if !same {
				want["tree of "+c.Metric+p] += number(t, r.Values[k])
			}
		}
	}
	_, rows := ours(t, "call-tree", nil)
	got, ofNode := values{}, map[int64]string{}
	for _, rec := range rows { // callers come before their callees
		above := ""
		if rec.Number("depth") > 0 {
			above = ofNode[rec.Number("parent_id")]
		}
		p, same := below(above, rec.Text("function"))
		ofNode[rec.Number("node_id")] = p
		if !same && table.Column("Attr.", rec.Text("metric")) >= 0 {
			got["tree of "+rec.Text("metric")+p] += base(rec, "attributed")
		}
	}
	if len(want) < 100 {
		t.Errorf("gprofng's tree has only %d values", len(want))
	}
	compare(t, "call tree", want, got)
}

// below returns the path of a node of the tree. Functions without symbols that call each other count
// as one function: see unbounded.
func below(above, function string) (path string, same bool) {
	name := withoutObject(function)
	if name == "<static>" && strings.HasSuffix(above, " > <static>") {
		return above, true
	}
	return above + " > " + name, false
}

// withoutObject removes the part of a name that distinguishes a function without a symbol from others.
func withoutObject(name string) string {
	if strings.HasPrefix(name, "<static>") {
		return "<static>"
	}
	return name
}

// TestIndexObjects compares the objects of gprofng's index tables. Objects that belong to one
// experiment are listed, not added up.
func TestIndexObjects(t *testing.T) {
	needRecordings(t)
	for _, test := range []struct {
		command, report string
		name            func(queries.Record) string
	}{
		{"-cpus", "cpus", func(rec queries.Record) string { return fmt.Sprint("CPU ", rec.Number("cpu")) }},
		{"-seconds", "seconds", func(rec queries.Record) string { return fmt.Sprint("Second of execution ", rec.Number("t0_ns")/1e9) }},
		{"-samples", "samples", func(rec queries.Record) string { return fmt.Sprint("Sample ", rec.Number("point")) }},
		{"-datasize", "sizes", func(rec queries.Record) string { return rec.Text("size_range") }},
		{"-duration", "durations", func(rec queries.Record) string { return rec.Text("duration_range") }},
		{"-processes", "processes", func(rec queries.Record) string {
			return fmt.Sprint("ranks, Process ", rank(rec)+1, ", PID ", rec.Number("pid"))
		}},
		{"-threads", "threads", func(rec queries.Record) string {
			return fmt.Sprint("Process ", rank(rec)+1, ", Thread ", threadNumber(t, rec))
		}},
	} {
		table := tables(t, "-metrics", all("e"), test.command)[0]
		want := theirValues(t, table, squeezed)
		_, rows := ours(t, test.report, nil)
		got := values{}
		for _, rec := range rows {
			got[flavored("Excl.", rec.Text("metric"), squeezed(test.name(rec)))] += base(rec, "value")
		}
		compare(t, test.report, withoutTotal(want), got)
	}
}

// rank returns the number of the rank of a row's experiment.
func rank(rec queries.Record) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(rec.Text("experiment"), "rank"), ".er"))
	return n
}

// threadNumber returns gprofng's number of a row's thread. 1 is the main thread, whose id is the
// process's id. Ids of other threads are larger, unless the system has started again with small ids.
func threadNumber(t *testing.T, rec queries.Record) (n int) {
	t.Helper()
	const query = `SELECT count(DISTINCT t.thread_id) FROM thread_metrics t JOIN processes p USING (experiment_id, process)
		WHERE experiment_id = $1 AND process = $2 AND (t.thread_id = p.pid OR p.pid <> $3 AND t.thread_id <= $3)`
	if err := shared.QueryRow(query, rec.Text("experiment_id"), rec.Number("process"), rec.Number("thread_id")).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// squeezed replaces each run of blanks by one blank.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }
