package export

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"stackmill/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/export"
)

// A Go program's own profiles, ingested and exported again, are equal sample by sample, in
// all modes: values by type, frames, those of inlined functions too, and labels.
func TestPprofRoundTrip(t *testing.T) {
	from, err := filepath.Abs("../../testdata/pprof")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cpu.pb.gz", "heap.pb.gz"} {
		db, err := suite.Open(pipeline.Options{Store: filepath.Join(t.TempDir(), "store")}, filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if len(db.Experiments) != 1 || db.Experiments[0].Status != "complete" {
			t.Fatalf("%s: %v", name, db.Experiments)
		}
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		want := samplesOf(t, data)
		for _, mode := range export.Modes {
			if diff := gocmp.Diff(samplesOf(t, exported(t, db, export.Request{As: "pprof", Mode: mode})), want); diff != "" || len(want) < 50 {
				t.Errorf("%s, %s mode, %d samples: -exported +recorded\n%s", name, mode, len(want), diff)
			}
		}
		if proof, err := queries.Check(t.Context(), db.Store, nil); err != nil || len(proof.Wrong)+len(proof.Doubted) > 0 {
			t.Errorf("%s: %v, %v, %v", name, err, proof.Wrong, proof.Doubted)
		}
	}
}

// Lines of functions without a file belong to no file, and nothing is wrong with the
// values.
func TestLinesWithoutFile(t *testing.T) {
	f := &profile.Function{ID: 1, Name: "f"}
	g := &profile.Function{ID: 2, Name: "g", Filename: "g.c"}
	inner := &profile.Location{ID: 1, Line: []profile.Line{{Function: f, Line: 7}}}
	outer := &profile.Location{ID: 2, Line: []profile.Line{{Function: g, Line: 3}}}
	p := profile.Profile{SampleType: []*profile.ValueType{{Type: "n", Unit: "count"}}, Function: []*profile.Function{f, g},
		Location: []*profile.Location{inner, outer}, Sample: []*profile.Sample{{Location: []*profile.Location{inner, outer}, Value: []int64{5}}}}
	path := filepath.Join(t.TempDir(), "x.pprof")
	var content bytes.Buffer
	if err := p.Write(&content); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(t.TempDir(), "store")}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var lines string
	if err := db.QueryRow("SELECT string_agg(concat_ws(' ', function, file, line, exclusive, inclusive), ', ' ORDER BY function) FROM line_metrics WHERE mode = 'user' AND function <> '<Total>'").Scan(&lines); err != nil {
		t.Fatal(err)
	}
	if want := "f  0 5 5, g g.c 3 0 5"; lines != want {
		t.Errorf("%s, want %s", lines, want)
	}
	if proof, err := queries.Check(t.Context(), db.Store, nil); err != nil || len(proof.Wrong)+len(proof.Doubted) > 0 {
		t.Errorf("%v, %v, %v", err, proof.Wrong, proof.Doubted)
	}
}

// samplesOf returns the samples of a profile as texts.
func samplesOf(t *testing.T, data []byte) (samples []string) {
	t.Helper()
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string][]int64{}
	for _, s := range p.Sample {
		var b strings.Builder
		for _, l := range s.Location {
			for _, line := range l.Line {
				fmt.Fprintf(&b, "%s %s:%d\n", line.Function.Name, line.Function.Filename, line.Line)
			}
		}
		fmt.Fprintln(&b, s.Label, s.NumLabel)
		sum := sums[b.String()]
		if sum == nil {
			sum = make([]int64, len(s.Value))
		}
		for i := range s.Value {
			sum[i] += s.Value[i]
		}
		sums[b.String()] = sum
	}
	for stack, sum := range sums {
		values := map[string]int64{}
		for i, m := range p.SampleType {
			values[m.Type+" "+m.Unit] = sum[i]
		}
		if slices.ContainsFunc(sum, func(v int64) bool { return v != 0 }) {
			samples = append(samples, stack+fmt.Sprint(values))
		}
	}
	slices.Sort(samples)
	return samples
}
