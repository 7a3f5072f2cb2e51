// Command testsummary runs go test with the arguments and the exit status of go test. It prints the
// output of failed tests, then which tests were skipped and why, and the slowest packages and
// tests.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

func main() {
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		err = errors.Join(summarize(out, os.Stdout), cmd.Wait())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		os.Exit(1)
	}
}

// event is one line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // in seconds
}

// summarize reads the events of go test. It prints the output of failed tests and of packages, the
// skipped tests by reason, and the slowest packages and tests.
func summarize(r io.Reader, w io.Writer) error {
	var packages, tests []measurement
	output := map[[2]string][]string{} // by package and test: output of tests that have not ended
	reasons := map[string][]string{}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil {
				e = event{Action: "output", Output: line}
			}
			key := [2]string{e.Package, e.Test}
			folder := strings.TrimPrefix(e.Package, "stackmill/")
			switch ended := e.Action == "pass" || e.Action == "fail"; {
			case ended && e.Test == "":
				packages = append(packages, measurement{e.Elapsed, folder})
			case ended && !strings.Contains(e.Test, "/"):
				tests = append(tests, measurement{e.Elapsed, folder + "." + e.Test})
			}
			switch {
			case e.Action == "output" && e.Test == "" && e.Output == "PASS\n": // the line about the package follows
			case e.Action == "build-output", e.Action == "output" && e.Test == "":
				fmt.Fprint(w, e.Output)
			case e.Action == "output":
				output[key] = append(output[key], e.Output)
			case e.Action == "fail" && e.Test != "":
				fmt.Fprint(w, strings.Join(output[key], ""))
				delete(output, key)
			case e.Action == "skip" && e.Test != "":
				why := reason(output[key])
				reasons[why] = append(reasons[why], folder+"."+e.Test)
				delete(output, key)
			case e.Action == "pass":
				delete(output, key)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	for key, lines := range output { // tests that never ended, because the program did
		if key[1] != "" {
			fmt.Fprint(w, strings.Join(lines, ""))
		}
	}
	printSkipped(w, reasons)
	printSlowest(w, "packages", packages)
	printSlowest(w, "tests", tests)
	return nil
}

// measurement is how long a package or test took.
type measurement struct {
	seconds float64
	name    string
}

// mostListed is how many of the slowest packages or tests are listed at most. Those under a second
// are not listed.
const mostListed = 20

func printSlowest(w io.Writer, what string, measurements []measurement) {
	measurements = slices.DeleteFunc(measurements, func(t measurement) bool { return t.seconds < 1 })
	slices.SortFunc(measurements, func(a, b measurement) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), strings.Compare(a.name, b.name))
	})
	if len(measurements) == 0 {
		return
	}
	fmt.Fprintf(w, "\nThe slowest %s, in seconds\n", what)
	for _, t := range measurements[:min(len(measurements), mostListed)] {
		fmt.Fprintf(w, "  %6.1f  %s\n", t.seconds, t.name)
	}
}

var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason returns why a test was skipped, taken from its output.
func reason(output []string) string {
	for _, line := range output {
		if place.MatchString(line) {
			return strings.TrimSpace(place.ReplaceAllString(line, ""))
		}
	}
	return "no reason given"
}

func printSkipped(w io.Writer, reasons map[string][]string) {
	var lines []string
	count := 0
	for why, tests := range reasons {
		slices.Sort(tests)
		count += len(tests)
		names := strings.Join(tests[:min(len(tests), 3)], ", ")
		if len(tests) > 3 {
			names += fmt.Sprintf(" and %d more", len(tests)-3)
		}
		lines = append(lines, fmt.Sprintf("  %s: %s", names, why))
	}
	slices.Sort(lines)
	fmt.Fprintf(w, "\n%d tests were skipped\n", count)
	for _, l := range lines {
		fmt.Fprintln(w, l)
	}
}
