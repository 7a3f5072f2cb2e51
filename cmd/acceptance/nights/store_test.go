package nights

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/suite"
)

// answer has the fields of a digest in JSON that the test reads.
type answer struct {
	Experiments int `json:"experiments"`
	Sure        []struct {
		Program  string `json:"program"`
		Since    string `json:"since"`
		LastGood string `json:"last_good"`
		Changes  []struct {
			Function string  `json:"function"`
			Since    string  `json:"since"`
			State    string  `json:"state"`
			Ratio    float64 `json:"ratio"`
		} `json:"changes"`
		Differences []struct {
			What   string
			Before []string
			After  []string
		} `json:"differences"`
		Commands []string `json:"commands"`
	} `json:"sure"`
}

// TestStore makes a store of a small fleet, night by night, as the user of a benchmark does. On the
// fourth morning after the planted change, the verb digest names the program, function, night and
// build.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "stackmill")
	if err := suite.Build(program); err != nil {
		t.Fatal(err)
	}
	plan := Benchmarks(3)
	plan.Programs, plan.Nights, plan.Runs = 10, 40, 5
	f, err := NewFleet(plan)
	if err != nil {
		t.Fatal(err)
	}
	store, last := filepath.Join(dir, "store"), f.Planted.From+window-1
	for night := range last + 1 {
		folder, err := f.WriteNight(filepath.Join(dir, "profiles"), night)
		if err != nil {
			t.Fatal(err)
		}
		if night%10 == 9 || night == last {
			do(t, program, "ingest", "--store", store, "--cache", filepath.Join(dir, "cache"), "--recursive", "--label-from", PathLabels, filepath.Dir(folder))
		}
	}
	var got answer
	if err := json.Unmarshal(do(t, program, "digest", "--store", store, "--json"), &got); err != nil {
		t.Fatal(err)
	}
	if want := plan.Programs * plan.Runs * (last + 1); got.Experiments != want {
		t.Errorf("%d experiments, want %d", got.Experiments, want)
	}
	if len(got.Sure) == 0 {
		t.Fatal("nothing is found")
	}
	first, p := got.Sure[0], f.Planted
	name, night := f.FunctionName(p.Program, p.Function, p.From), f.Started(0, p.From, 0).Format("2006-01-02")
	if first.Program != f.Programs[p.Program].Name || first.Since != night {
		t.Errorf("%s since %s is first, not %s since %s", first.Program, first.Since, f.Programs[p.Program].Name, night)
	}
	found := false
	for _, c := range first.Changes {
		found = found || c.Function == name && c.Since == night && c.State == "sure" && c.Ratio > 1.03 && c.Ratio < 1.07
	}
	if !found {
		t.Errorf("%s is not among %+v", name, first.Changes)
	}
	build := false
	for _, d := range first.Differences {
		build = build || strings.HasPrefix(d.What, "build of") && len(d.After) == 1 && strings.HasPrefix(f.Build(p.Program, p.From), d.After[0]) &&
			len(d.Before) == 1 && strings.HasPrefix(f.Build(p.Program, p.From-1), d.Before[0])
	}
	if !build {
		t.Errorf("the build %s is not among %+v", f.Build(p.Program, p.From), first.Differences)
	}
}

// do runs a command and returns its output.
func do(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	c := exec.Command(name, args...)
	var errors bytes.Buffer
	c.Stderr = &errors
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", c, err, errors.String())
	}
	return out
}
