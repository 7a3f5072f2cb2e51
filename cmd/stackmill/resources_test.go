package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/internal/exit"
	"stackmill/queries/storetest"
)

// limited prepares a run of the program under ulimit's limits.
func limited(t *testing.T, limits string, args ...string) *exec.Cmd {
	t.Helper()
	c := program(t, args...)
	shell := exec.Command("sh", append([]string{"-c", limits + ` && exec -a stackmill "$0" "$@"`, c.Path}, args...)...)
	shell.Path, shell.Args[0] = "/bin/bash", "bash"
	return shell
}

// With too few open files or too little memory, every verb either works or ends with one clear
// sentence.
func TestFewResources(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("needs bash to set limits")
	}
	store := storetest.New(t, storetest.Two)
	recording := filepath.Join(t.TempDir(), "good.er")
	if err := compose(recording); err != nil {
		t.Fatal(err)
	}
	for _, limits := range []string{"ulimit -n 16", "ulimit -n 64", "ulimit -n 255", "ulimit -n 256", "ulimit -v 300000", "ulimit -v 700000", "ulimit -v 4000000", "ulimit -v 5000000"} {
		works := limits == "ulimit -n 256" || limits == "ulimit -v 5000000"
		for i, verb := range [][]string{
			{"experiments"}, {"problems"}, {"check"}, {"report", "functions"}, {"report", "conservation"}, {"query", "SELECT 1"}, {"explain", "--stack", "1"},
			{"ingest", "--memory", "256M", "--cache", "", "--store", filepath.Join(t.TempDir(), "new"), recording},
		} {
			if works && verb[0] == "explain" || i > 1 && limits != "ulimit -n 64" && !works && !strings.HasPrefix(limits, "ulimit -v 7") {
				continue
			}
			if verb[0] != "ingest" {
				verb = append(verb, "--store", store)
			}
			var errs bytes.Buffer
			c := limited(t, limits, verb...)
			c.Stderr = &errs
			err := c.Run()
			var ended *exec.ExitError
			switch {
			case works && err != nil:
				t.Errorf("%s: %v: %v\n%s", limits, verb, err, errs.String())
			case !works && (!errors.As(err, &ended) || ended.ExitCode() != exit.Failed || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "ulimit")):
				t.Errorf("%s: %v: %v\n%s", limits, verb, err, errs.String())
			}
		}
	}
}

func TestJobsFor(t *testing.T) {
	for _, c := range []struct{ jobs, files, want int }{{8, 1 << 20, 8}, {64, 1024, (1024 - 64) / filesPerJob}, {8, minFiles, max(1, 192/filesPerJob)}, {1, minFiles, 1}} {
		if got := jobsFor(c.jobs, c.files); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	err := outOfFiles(fmt.Errorf("IO Error: Too many open files\n\nLINE 1: SELECT\n^"))
	if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "ulimit") {
		t.Error(err)
	}
}
