package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// recorder takes the place of gprofng in the examples of the documentation: `gprofng collect app -o
// runs/7.er ./cmd/bench` makes a recording with as many samples as the program says, and up to 4
// more.
func recorder() {
	err := func() error {
		text, err := os.ReadFile(os.Args[5])
		if err != nil {
			return err
		}
		samples, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(os.Args[4]), ".er"))
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(os.Args[4]), 0o777); err != nil {
			return err
		}
		return composeRun(os.Args[4], samples+n*7%5, int64(n))
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// steps writes the steps of an example in docs/compare.md to files steps-1, steps-2, ...: `steps
// GitHub`.
func steps(ts *testscript.TestScript, neg bool, args []string) {
	text, err := os.ReadFile(filepath.Join(ts.Getenv("DOCS"), "compare.md"))
	ts.Check(err)
	_, example, _ := strings.Cut(string(text), "\nIn "+args[0])
	_, example, _ = strings.Cut(example, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	found := stepsOf(example)
	if neg || len(found) == 0 {
		ts.Fatalf("docs/compare.md has no steps for %s", args[0])
	}
	for n, step := range found {
		ts.Check(os.WriteFile(ts.MkAbs(fmt.Sprintf("steps-%d", n+1)), []byte(step), 0o666))
	}
}

// stepsOf returns the scripts of a CI system's job: each block below `run: |`, and the list
// below `script:`.
func stepsOf(example string) (found []string) {
	within := 0 // indentation of the current step's first line; 0 outside of steps
	for _, line := range strings.Split(example, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch text := strings.TrimSpace(line); {
		case strings.HasSuffix(text, "run: |") || text == "script:":
			found, within = append(found, ""), indent
		case indent > within && within > 0:
			found[len(found)-1] += strings.TrimPrefix(text, "- ") + "\n"
		default:
			within = 0
		}
	}
	return found
}
