package sums

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/perftext"
	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries/report"
)

// TestPerf compares sums with perf. perf has no sum over files, so the test adds up what perf prints
// about each file.
func TestPerf(t *testing.T) {
	perf, err := exec.LookPath("perf")
	if err != nil {
		t.Skip(err)
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "ranks")
	run(t, "gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-pthread", "-o", program, filepath.Join("testdata", "ranks.c"))
	want := values{}
	inserted := 0.0 // the value of stacks to which a caller may be added that chains of frame pointers lack (S26)
	var files []string
	for rank := range 5 {
		file := filepath.Join(folder, fmt.Sprintf("rank%d.data", rank))
		files = append(files, file)
		if out, err := exec.Command(perf, "record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-g", "-o", file, program, strconv.Itoa(rank)).CombinedOutput(); err != nil {
			t.Skipf("perf cannot record: %v: %s", err, out)
		}
		rows, err := perftext.Report(strings.NewReader(run(t, perf, "report", "--stdio", "--no-children", "-g", "none", "-F", "overhead,sample,period,dso,sym", "-i", file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			name, _, _ := strings.Cut(r.Symbol, "@")
			want["self "+perftext.Bare(name)+" in "+r.Object] += float64(r.Period)
		}
		samples, err := perftext.Script(strings.NewReader(run(t, perf, "script", "-F", "comm,tid,time,period,event,ip,sym,symoff,dso", "--no-inline", "-i", file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samples {
			seen := map[string]bool{}
			if filepath.Base(s.Chain[0].Object) != "ranks" {
				inserted += float64(s.Period)
			}
			for _, f := range s.Chain {
				if filepath.Base(f.Object) == "ranks" && !strings.HasSuffix(f.Symbol, "@plt") && !seen[f.Symbol] {
					seen[f.Symbol] = true
					want["children "+f.Symbol] += float64(s.Period)
				}
			}
		}
	}
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(folder, "store"), Cache: filepath.Join(folder, "cache")}, files...)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := report.Defaults()
	r.Mode, r.Alias, r.Sum = "machine", "perf", true
	r.Report, _ = report.Find("functions")
	q, err := report.Ask(t.Context(), db, &r)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := q.Drawing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, rec := range rows {
		name, object := perftext.Bare(rec.Text("function")), rec.Text("load_object")
		if rec.Number("experiments") != 5 {
			t.Fatalf("the sum is over %d experiments", rec.Number("experiments"))
		}
		if own := want["self "+name+" in "+object]; rec.Text("kind") == "normal" && float64(rec.Number("exclusive")) != own {
			t.Errorf("%s has %d ns, perf says %v", name, rec.Number("exclusive"), own)
		}
		if object != "ranks" || rec.Text("kind") != "normal" {
			continue
		}
		compared++
		if more := float64(rec.Number("inclusive")) - want["children "+name]; more < 0 || more > inserted {
			t.Errorf("%s with what it calls has %d ns, perf says %v", name, rec.Number("inclusive"), want["children "+name])
		}
	}
	if t.Failed() {
		t.Logf("perf: %v", want)
	}
	if compared < 4 || want["self spin in ranks"] == 0 {
		t.Errorf("only %d functions are compared", compared)
	}
}

// run runs a command and returns its output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(args[0], args[1:]...).Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return string(out)
}
