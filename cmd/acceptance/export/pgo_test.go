package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"stackmill/queries/export"
)

// Go's compiler reads a profile. It weighs a call by the values of stacks with the call at the
// leaf: a function that calls nothing has its exclusive value.
func TestPGO(t *testing.T) {
	db := only(t, "clones.er")
	edges := filepath.Join(t.TempDir(), "edges")
	path := file(t, db, export.Request{As: "pgo", Metric: "totalcpu", Mode: "user"})
	if out, err := exec.CommandContext(t.Context(), "go", "tool", "preprofile", "-i", path, "-o", edges).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	of, compared := weights(t, edges), 0
	for name, v := range withoutTotal(reported(t, db, "inline_function_metrics", "concat(f.name, '|')", "totalcpu", "user")) {
		name = strings.TrimSuffix(name, "|")
		if v[0] != v[1] {
			continue
		}
		if compared++; of[name] != v[0] {
			t.Errorf("%s: %d, want %d", name, of[name], v[0])
		}
	}
	if compared < 5 {
		t.Errorf("%d functions call nothing", compared)
	}
}

// A profile for a source tree reveals nothing about the machine where it was made.
func TestPGOIsBare(t *testing.T) {
	p, err := profile.ParseData(exported(t, only(t, "clones.er"), export.Request{As: "pgo", Mode: "user"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil || len(p.Sample) == 0 || len(p.Mapping) > 0 {
		t.Errorf("%d samples, mappings %v: %v", len(p.Sample), p.Mapping, err)
	}
	for _, f := range p.Function {
		if f.Filename != "" {
			t.Errorf("%s is in %s", f.Name, f.Filename)
		}
	}
	for _, s := range p.Sample {
		if len(s.Label) > 0 {
			t.Fatalf("labels %v", s.Label)
		}
	}
}

// weights sums the output of `go tool preprofile` by callee. It writes three lines for each call:
// caller, callee, the line in the caller with the weight.
func weights(t *testing.T, path string) map[string]int64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:]
	of := map[string]int64{}
	for ; len(lines) >= 3; lines = lines[3:] {
		_, weight, _ := strings.Cut(lines[2], " ")
		n, err := strconv.ParseInt(weight, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		of[lines[1]] += n
	}
	return of
}
