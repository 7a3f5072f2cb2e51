package export

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/export"
)

// A Go program's own profiles stay equal when ingested and exported, sample by sample, in all
// modes: values by type, frames, including inlined functions, and labels.
func TestPprofRoundTrip(t *testing.T) {
	dir := t.TempDir()
	least := map[string]int{"cpu.pb.gz": 50, "heap.pb.gz": 50}
	for name := range least {
		data, err := os.ReadFile(filepath.Join("../../../testdata/pprof", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), data)
	}
	for _, kind := range []string{"allocs", "block", "goroutine", "mutex"} { // this program's
		least[kind+".pprof"] = 1
		write(t, filepath.Join(dir, kind+".pprof"), own(t, kind))
	}
	least["difference.pb.gz"] = 50
	write(t, filepath.Join(dir, "difference.pb.gz"), difference(t))
	all, err := suite.Open(pipeline.Options{Store: filepath.Join(t.TempDir(), "store")}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	suite.CheckInvariants(t, all, len(least))
	for name, least := range least {
		db, err := queries.OpenWith(t.Context(), all.Store, queries.Options{Only: []string{name}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if db.Count != 1 || db.Experiments()[0].Status != "complete" {
			t.Fatalf("%s: %v", name, db.Experiments())
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want := samplesOf(t, data)
		for _, mode := range export.Modes {
			if diff := gocmp.Diff(samplesOf(t, exported(t, db, export.Request{As: "pprof", Mode: mode})), want); diff != "" || len(want) < least {
				t.Errorf("%s, %s mode, %d samples: -exported +recorded\n%s", name, mode, len(want), diff)
			}
		}
	}
}

// difference returns a profile with negative values, as `pprof -proto -diff_base` writes it: all
// values of some stacks, so that sums of common frames cancel, and one value of each unit.
func difference(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/pprof/heap.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	p.SampleType[0].Unit = "objects"
	for _, l := range p.Location { // a function without lines keeps its file
		for i := range l.Line {
			if l.Line[i].Function == p.Function[0] {
				l.Line[i].Line = 0
			}
		}
	}
	for i, s := range p.Sample {
		for n := range s.Value {
			switch s.Value[n] = 1 << n; i % 3 {
			case 1:
				s.Value[n] = -s.Value[n]
			case 2:
				s.Value[n] = 0
			}
		}
	}
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// own returns a profile of this program.
func own(t *testing.T, kind string) []byte {
	t.Helper()
	runtime.SetBlockProfileRate(1)
	defer runtime.SetBlockProfileRate(0)
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
	var lock sync.Mutex
	var threads sync.WaitGroup
	for range 4 {
		threads.Go(func() {
			for range 3 {
				lock.Lock()
				time.Sleep(time.Millisecond)
				lock.Unlock()
			}
		})
	}
	threads.Wait()
	var out bytes.Buffer
	if err := pprof.Lookup(kind).WriteTo(&out, 0); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// carried are the metrics of a recording that a profile has.
var carried = map[string]string{
	"functions":              "SELECT %s AS name, metric, function, load_object, exclusive, inclusive FROM function_metrics WHERE %s",
	"functions with inlined": "SELECT %s AS name, metric, function, load_object, exclusive, inclusive FROM inline_function_metrics WHERE %s",
	"callers and callees":    "SELECT %s AS name, metric, function, other, relation, sum(attributed) FROM callers_callees WHERE %s GROUP BY ALL HAVING sum(attributed) <> 0",
	"lines":                  "SELECT %s AS name, metric, function, file, line, sum(exclusive), sum(inclusive) FROM line_metrics WHERE %s GROUP BY ALL",
	"lines with inlined":     "SELECT %s AS name, metric, function, file, line, sum(exclusive), sum(inclusive) FROM inline_line_metrics WHERE %s GROUP BY ALL",
	"stacks":                 "SELECT %s AS name, metric, stack, sum(value) FROM folded WHERE %s GROUP BY ALL",
	"why":                    "SELECT %s AS name, metric, load_object, sum(value) FROM unattributed WHERE %s AND subject = 'function' GROUP BY ALL",
}

// A recording that is exported as a profile and ingested has the export's values in each mode.
func TestRecordingRoundTrip(t *testing.T) {
	recordings := slices.Concat(recordings, others)
	dir := t.TempDir()
	for _, name := range recordings {
		for _, mode := range export.Modes {
			write(t, filepath.Join(dir, name+"-"+mode+".pb.gz"), exported(t, only(t, name+".er"), export.Request{As: "pprof", Mode: mode}))
		}
	}
	again, err := suite.Open(pipeline.Options{Store: filepath.Join(t.TempDir(), "store")}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	suite.CheckFiles(t, again, len(recordings)*len(export.Modes))
	for what, query := range carried {
		for _, mode := range export.Modes {
			names := "'" + strings.Join(recordings, ".er', '") + ".er'"
			want := rowsOf(t, store, fmt.Sprintf(query, "experiment", "mode = '"+mode+"' AND experiment IN ("+names+")"))
			suffix := "-" + mode + ".pb.gz"
			for _, shown := range export.Modes {
				got := rowsOf(t, again, fmt.Sprintf(query, "replace(experiment, '"+suffix+"', '.er')", "mode = '"+shown+"' AND ends_with(experiment, '"+suffix+"')"))
				if diff := gocmp.Diff(got, want); diff != "" || len(want) == 0 {
					t.Errorf("%s in %s mode, shown in %s mode, %d rows: -profile +recording\n%s", what, mode, shown, len(want), diff)
				}
			}
		}
	}
}

// rowsOf returns the rows of a query as texts.
func rowsOf(t *testing.T, db *queries.DB, query string) (rows []string) {
	t.Helper()
	suite.Query(t, db.DB, func(r *sql.Rows) error {
		var row string
		err := r.Scan(&row)
		rows = append(rows, row)
		return err
	}, "SELECT r::VARCHAR FROM ("+query+") r ORDER BY ALL")
	return rows
}

// Lines of functions without a file belong to no file, and the values are right.
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
	if proof, err := queries.Check(t.Context(), db.Store, queries.CheckOptions{}); err != nil || len(proof.Wrong)+len(proof.Doubted) > 0 {
		t.Errorf("%v, %v, %v", err, proof.Wrong, proof.Doubted)
	}
}

// Addresses and mappings are the profile's, and missing ones are not made up.
func TestPlacesRoundTrip(t *testing.T) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "n", Unit: "count"}}}
	named := &profile.Mapping{ID: 1, Start: 0x400000, Limit: 0x500000, Offset: 0x1000, File: "/bin/app", BuildID: "abc"}
	anonymous := &profile.Mapping{ID: 2, Start: 0x700000, Limit: 0x800000}
	p.Mapping = []*profile.Mapping{named, anonymous}
	f, g, bare := &profile.Function{ID: 1, Name: "f", SystemName: "f", Filename: "f.c"}, &profile.Function{ID: 2, Name: "g", SystemName: "_g", Filename: "g.c", StartLine: 3}, &profile.Function{ID: 3, Name: "h", SystemName: "h"}
	p.Function = []*profile.Function{f, g, bare}
	add := func(m *profile.Mapping, address uint64, lines ...profile.Line) {
		l := &profile.Location{ID: uint64(len(p.Location) + 1), Mapping: m, Address: address, Line: lines}
		p.Location = append(p.Location, l)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{1 << len(p.Sample)}})
	}
	add(named, 0x400010, profile.Line{Function: f, Line: 7})
	add(named, 0x400020, profile.Line{Function: g, Line: 8}, profile.Line{Function: f, Line: 9})
	add(named, 0, profile.Line{Function: f, Line: 7}) // an unknown address
	add(named, 0, profile.Line{Function: g, Line: 8}, profile.Line{Function: f, Line: 9})
	add(named, 0x400030)                            // an unknown function
	add(nil, 0, profile.Line{Function: f, Line: 7}) // neither
	add(nil, 0x900010, profile.Line{Function: f, Line: 7})
	add(nil, 0x900020, profile.Line{Function: g, Line: 8}, profile.Line{Function: f, Line: 9})
	add(nil, 0x900030)
	add(anonymous, 0x700010, profile.Line{Function: bare})
	add(anonymous, 0x700020)
	places := func(p *profile.Profile) (list []string) {
		for _, s := range p.Sample {
			l := s.Location[0]
			text := fmt.Sprintf("%d: %#x", s.Value[0], l.Address)
			for _, line := range l.Line {
				if name := line.Function.Name; name[0] != '<' {
					text += fmt.Sprintf(" %s(%s) %s from %d:%d", name, line.Function.SystemName, line.Function.Filename, line.Function.StartLine, line.Line)
				}
			}
			if m := l.Mapping; m != nil && m.File != "" {
				text += fmt.Sprintf(" in %s %s %#x-%#x+%#x", m.File, m.BuildID, m.Start, m.Limit, m.Offset)
			}
			list = append(list, text)
		}
		slices.Sort(list)
		return list
	}
	var content bytes.Buffer
	if err := p.Write(&content); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.pprof")
	write(t, path, content.Bytes())
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(t.TempDir(), "store")}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, mode := range export.Modes {
		again, err := profile.ParseData(exported(t, db, export.Request{As: "pprof", Mode: mode}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(places(again), places(p)); diff != "" {
			t.Errorf("%s mode: -exported +recorded\n%s", mode, diff)
		}
	}
	if proof, err := queries.Check(t.Context(), db.Store, queries.CheckOptions{}); err != nil || len(proof.Wrong)+len(proof.Doubted) > 0 {
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
