package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// fuzzTarget is a fuzz test.
type fuzzTarget struct{ pkg, name string }

// fuzzAll runs all fuzz tests of the module one after the other, each for the same time. If one
// fails, go test saves the input in testdata/fuzz of its package, where it becomes a test case.
func fuzzAll(ctx context.Context, total time.Duration, jobs int, w io.Writer) (found int, err error) {
	targets, err := fuzzTargets(ctx)
	if err != nil {
		return 0, err
	}
	if len(targets) == 0 {
		return 0, errors.New("the module has no fuzz targets")
	}
	share := (total / time.Duration(len(targets))).Truncate(time.Second)
	if share < time.Second {
		share = time.Second
	}
	for _, t := range targets {
		out, err := t.run(ctx, share, jobs)
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		if err != nil {
			found++
			fmt.Fprintf(w, "FAIL %s %s\n  %s\n", t.pkg, t.name, strings.ReplaceAll(strings.TrimSpace(out), "\n", "\n  "))
			continue
		}
		fmt.Fprintf(w, "ok   %s %s: %s\n", t.pkg, t.name, executions(out))
	}
	fmt.Fprintf(w, "%d fuzz targets, %s each: findings %d\n", len(targets), share, found)
	return found, nil
}

func (t fuzzTarget) run(ctx context.Context, share time.Duration, jobs int) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-tags", "duckdb_arrow", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", share.String(), "-fuzzminimizetime", "10x", "-parallel", fmt.Sprint(jobs), "-timeout", "0", t.pkg)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var execs = regexp.MustCompile(`execs: (\d+)`)

// executions returns how often the fuzz test ran, as go test last reported it.
func executions(out string) string {
	all := execs.FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		return "no figures"
	}
	return all[len(all)-1][1] + " runs"
}

var fuzzFunction = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// fuzzTargets finds fuzz tests by reading the test files. Building all tests would take longer.
func fuzzTargets(ctx context.Context) (list []fuzzTarget, err error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-tags", "duckdb_arrow", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "stackmill/...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			for _, m := range fuzzFunction.FindAllStringSubmatch(string(text), -1) {
				list = append(list, fuzzTarget{p.ImportPath, m[1]})
			}
		}
	}
}
