package export

import (
	"bytes"
	"cmp"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"stackmill/queries/export"
)

// A profile has the values of the reports, with and without inlined functions.
func TestPprofValues(t *testing.T) {
	for _, name := range recordings {
		db := only(t, name+".er")
		for _, mode := range export.Modes {
			p, err := profile.ParseData(exported(t, db, export.Request{As: "pprof", Mode: mode}))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := p.CheckValid(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for i, m := range p.SampleType {
				const key = "concat_ws('|', f.name, COALESCE(NULLIF(f.linkage_name, ''), f.name), o.path)"
				if diff := gocmp.Diff(functionsOf(p, i, false), withoutTotal(reported(t, db, "function_metrics", key, m.Type, mode))); diff != "" {
					t.Errorf("%s, %s, %s mode: -profile +report\n%s", name, m.Type, mode, diff)
				}
				if diff := gocmp.Diff(functionsOf(p, i, true), withoutTotal(reported(t, db, "inline_function_metrics", key, m.Type, mode))); diff != "" {
					t.Errorf("%s, %s, %s mode, inlined: -profile +report\n%s", name, m.Type, mode, diff)
				}
				var sum int64
				for _, s := range p.Sample {
					sum += s.Value[i]
				}
				if want := total(t, db, m.Type, mode); sum != want {
					t.Errorf("%s, %s, %s mode: sum %d, want %d", name, m.Type, mode, sum, want)
				}
			}
		}
	}
}

func withoutTotal(values map[string]both) map[string]both {
	for k := range values {
		if strings.HasPrefix(k, "<Total>|") {
			delete(values, k)
		}
	}
	return values
}

// functionsOf sums a profile by function.
func functionsOf(p *profile.Profile, metric int, inlined bool) map[string]both {
	values := map[string]both{}
	for _, s := range p.Sample {
		v, seen := s.Value[metric], map[string]bool{}
		for i, l := range s.Location {
			lines := l.Line
			if !inlined {
				lines = lines[len(lines)-1:]
			}
			for j, line := range lines {
				if line.Function.Name == "<no stack>" {
					continue
				}
				key := line.Function.Name + "|" + cmp.Or(line.Function.SystemName, line.Function.Name) + "|" + l.Mapping.File
				b := values[key]
				if i+j == 0 {
					b[0] += v
				}
				if !seen[key] {
					b[1] += v
				}
				seen[key] = true
				if b != (both{}) {
					values[key] = b
				}
			}
		}
	}
	return values
}

// Locations have the instructions' addresses in mappings with build-ids; samples have labels of
// process and thread.
func TestPprofPlaces(t *testing.T) {
	db := only(t, "forkexec.er")
	p, err := profile.ParseData(exported(t, db, export.Request{As: "pprof"}))
	if err != nil {
		t.Fatal(err)
	}
	if p.Mapping[0].BuildID == "" || !strings.HasSuffix(p.Mapping[0].File, "forkexec") {
		t.Errorf("the first mapping is %v", p.Mapping[0])
	}
	placed := 0
	for _, l := range p.Location {
		if m := l.Mapping; m.Limit > 0 {
			placed++
			if l.Address < m.Start || l.Address >= m.Limit {
				t.Errorf("location %#x is not in %v", l.Address, m)
			}
		}
	}
	if placed == 0 {
		t.Error("no location is in a mapping")
	}
	pids := map[string]bool{}
	for _, s := range p.Sample {
		if len(s.Label["thread"]) != 1 || len(s.Label["pid"]) != 1 {
			t.Fatalf("labels: %v", s.Label)
		}
		pids[s.Label["pid"][0]] = true
	}
	var want int
	if err := db.QueryRowContext(t.Context(), "SELECT count(DISTINCT process) FROM samples WHERE kind = 'clock'").Scan(&want); err != nil {
		t.Fatal(err)
	}
	if len(pids) != want {
		t.Errorf("%d processes, want %d", len(pids), want)
	}
}

// A label distinguishes several experiments; pprof itself sums them.
func TestPprofSeveral(t *testing.T) {
	p, err := profile.ParseData(exported(t, store, export.Request{As: "pprof", Metric: "totalcpu"}))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]int64{}
	for _, s := range p.Sample {
		sums[s.Label["experiment"][0]] += s.Value[0]
	}
	for _, name := range []string{"recur", "threads"} {
		if want := total(t, only(t, name+".er"), "totalcpu", "user"); sums[name+".er"] != want {
			t.Errorf("%s: %d, want %d", name, sums[name+".er"], want)
		}
	}
}

var topLine = regexp.MustCompile(`^ *(\d+)(?:ns)? +[\d.]+% +[\d.]+% +(\d+)(?:ns)? +[\d.]+%  (.*)$`)

// `go tool pprof -top` prints the numbers of `report functions`.
func TestGoToolPprof(t *testing.T) {
	for _, name := range []string{"recur", "cxx", "threads"} {
		db := only(t, name+".er")
		command := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-top", "-noinlines", "-symbolize=none", "-nodefraction=0", "-edgefraction=0", "-nodecount=0",
			"-unit=nanoseconds", "-sample_index=totalcpu", file(t, db, export.Request{As: "pprof"}))
		var errs bytes.Buffer
		command.Stderr = &errs
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, errs.Bytes())
		}
		if !strings.HasPrefix(string(out), "File: "+name+"\n") {
			t.Errorf("%s: no name of the program in\n%s", name, out)
		}
		got := map[string]both{}
		for line := range strings.Lines(string(out)) {
			m := topLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
			if m == nil {
				continue
			}
			flat, err1 := strconv.ParseInt(m[1], 10, 64)
			cum, err2 := strconv.ParseInt(m[2], 10, 64)
			if err1 != nil || err2 != nil {
				t.Fatal(fmt.Sprint(err1, err2))
			}
			got[m[3]] = both{flat, cum}
		}
		want := withoutTotal(reported(t, db, "function_metrics", "f.name || CASE WHEN f.name = '<Total>' THEN '|' ELSE '' END", "totalcpu", "user"))
		if diff := gocmp.Diff(got, want); diff != "" {
			t.Errorf("%s: -pprof +report\n%s\n%s", name, diff, out)
		}
	}
}
