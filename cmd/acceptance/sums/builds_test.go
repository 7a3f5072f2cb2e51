package sums

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/stages/symbolize/source"
)

// TestBuilds adds up two builds of a program, from sources in two directories that differ by two
// lines. The functions, and the nodes of the call tree, are the same; lines differ, and the sum says
// so.
func TestBuilds(t *testing.T) {
	needRecordings(t)
	folder := t.TempDir()
	text, err := os.ReadFile(filepath.Join("testdata", "ranks.c"))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i, version := range []string{string(text), strings.Replace(string(text), "static int rank;", "static int rank;\nstatic int more[100];\n", 1)} {
		dir := filepath.Join(folder, fmt.Sprint("build", i))
		program := filepath.Join(dir, "ranks")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program+".c", []byte(version), 0o644); err != nil {
			t.Fatal(err)
		}
		run(t, "gcc", "-g", "-O1", "-pthread", "-o", program, program+".c")
		path := filepath.Join(folder, fmt.Sprint("build", i, ".er"))
		run(t, gprofng, "collect", "app", "-p", "off", "-H", "on", "-O", path, program, "3")
		paths = append(paths, path)
	}
	open := func(store string, sources ...source.Rule) *queries.DB {
		db, err := suite.Open(pipeline.Options{Store: filepath.Join(folder, store), Cache: filepath.Join(folder, "cache"), Sources: sources}, paths...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	rules, err := source.ParseRules([]string{folder}) // other users may not read the folder
	if err != nil {
		t.Fatal(err)
	}
	if q, _ := sumOf(t, open("without"), "lines", "heapallocbytes"); !strings.Contains(strings.Join(q.Remarks, "\n"), "the store does not have the text of ranks.c") {
		t.Errorf("without text, the remarks are %q", q.Remarks)
	}
	db := open("store", rules...)
	const kept = 80 * 67 // bytes that keep allocates in one run
	checkBuilds(t, db, kept)
	for _, test := range []struct {
		report string
		column string
		names  []string // names in the rows of the program's functions that allocate, with the number of rows of each
		remark string
	}{
		{"functions", "inclusive", []string{"keep 1", "main 1"}, ""},
		{"call-tree", "attributed", []string{"keep 1", "main 1"}, ""},
		{"lines", "inclusive", []string{"keep 2", "main 4"}, "lines are added up by number"},
		{"pcs", "inclusive", []string{"keep 2", "main 4"}, "instructions of different builds are not added up: there are several of ranks (2)"},
	} {
		q, rows := sumOf(t, db, test.report, "heapallocbytes")
		count := map[string]int64{}
		for _, rec := range rows {
			name := rec.Text("function")
			if slices.ContainsFunc(test.names, func(n string) bool { return strings.HasPrefix(n, name+" ") }) && rec.Number(test.column) > 0 {
				count[name]++
			}
			if n := rec.Number(test.column); test.remark == "" && name == "keep" && n != 2*kept {
				t.Errorf("%s: %s has %d bytes, want %d", test.report, name, n, 2*kept)
			}
		}
		var names []string
		for name, n := range count {
			names = append(names, fmt.Sprint(name, " ", n))
		}
		slices.Sort(names)
		if fmt.Sprint(names) != fmt.Sprint(test.names) {
			t.Errorf("%s: %v, want %v", test.report, names, test.names)
		}
		if said := strings.Join(q.Remarks, "\n"); (test.remark == "") != (said == "") || !strings.Contains(said, test.remark) {
			t.Errorf("%s: the remarks are %q, want %q", test.report, said, test.remark)
		}
	}
}

// sumOf returns the rows of a report of all experiments of a store.
func sumOf(t *testing.T, db *queries.DB, name, metric string) (*report.Question, []queries.Record) {
	t.Helper()
	r := report.Defaults()
	r.Metric, r.Sum = metric, true
	var err error
	if r.Report, err = report.Find(name); err != nil {
		t.Fatal(err)
	}
	q, err := report.Ask(t.Context(), db, &r)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := q.Drawing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return q, rows
}

// TestBy checks that a sum divided by the experiments' names has the values of each experiment.
func TestBy(t *testing.T) {
	needRecordings(t)
	r := report.Defaults()
	r.Metric, r.Sum, r.By = "all", true, "experiment"
	r.Report, _ = report.Find("functions")
	q, err := report.Ask(t.Context(), shared, &r)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := q.Drawing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	columns := q.ByColumns()
	if len(columns) != ranks {
		t.Fatalf("%d columns, want %d", len(columns), ranks)
	}
	got := values{}
	for _, rec := range rows {
		for _, c := range columns {
			for _, of := range []string{"exclusive", "inclusive"} {
				got[fmt.Sprint(c.Name, " ", rec.Text("metric"), " ", of, " ", rec.Number("function_key"))] += float64(rec.Number(report.DividedColumn(of, c)))
			}
		}
	}
	want := values{}
	each, err := shared.Records(t.Context(), "SELECT experiment, metric, function_key, exclusive, inclusive FROM function_metrics WHERE mode = 'user'")
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range each {
		for _, of := range []string{"exclusive", "inclusive"} {
			want[fmt.Sprint("experiment=", rec.Text("experiment"), " ", rec.Text("metric"), " ", of, " ", rec.Number("function_key"))] += float64(rec.Number(of))
		}
	}
	compare(t, "by experiment", want, got)
}
