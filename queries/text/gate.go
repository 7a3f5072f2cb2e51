//go:build cgo

package text

import (
	"cmp"
	"encoding/xml"
	"io"
	"stackmill/internal/terminal"
	"stackmill/queries/compare"
	"strings"
)

// Gate prints the checks of a gate that did not pass.
func Gate(out *terminal.Output, j *compare.Judgement, _ []string) error {
	if err := comparisonCaption(out, "Gate", j.Result); err != nil {
		return err
	}
	counts := map[string]int{}
	var cells [][]string
	for _, c := range j.Checks {
		if counts[c.Outcome]++; c.Outcome != compare.Passed {
			cells = append(cells, []string{c.Outcome, c.Rule, c.Row, c.Message})
		}
	}
	if cells != nil {
		fields := []terminal.Field{{Name: "Outcome"}, {Name: "Rule", Short: true}, {Name: "Row", Short: true}, {Name: "What"}}
		if err := out.Table(fields, cells, false); err != nil {
			return err
		}
	}
	return out.Printf("%s: %s, %d violated, %d undecided\n", j.Outcome, Plural(len(j.Checks), "check"), counts[compare.Violated], counts[compare.Undecided])
}

// GateJSON prints a judgement as a JSON object.
func GateJSON(out *terminal.Output, j *compare.Judgement, leftOut []string) error {
	comparison, err := j.Object(j.Rows)
	if err != nil {
		return err
	}
	return terminal.PrintJSON(out.Stdout, struct {
		Outcome    string          `json:"outcome"`
		Checks     []compare.Check `json:"checks"`
		LeftOut    []string        `json:"left_out,omitempty"`
		Comparison any             `json:"comparison"`
	}{j.Outcome, append([]compare.Check{}, j.Checks...), leftOut, comparison}, true)
}

// The elements of JUnit's report that CI systems read.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
		Output   string      `xml:"system-out,omitempty"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
	}
	junitMessage struct {
		Text string `xml:"message,attr"`
	}
)

// JUnit writes a test case for each check: violations are failures, undecided checks are errors.
// The remarks in leftOut, about what the store leaves out, become the output of the tests.
func JUnit(out io.Writer, j *compare.Judgement, leftOut []string) error {
	suite := junitSuite{Name: "stackmill gate", Tests: len(j.Checks), Output: strings.Join(leftOut, "\n")}
	for _, c := range j.Checks {
		t := junitCase{Class: c.Rule, Name: cmp.Or(c.Row, c.Rule)}
		switch c.Outcome {
		case compare.Violated:
			suite.Failures++
			t.Failure = &junitMessage{c.Message}
		case compare.Undecided:
			suite.Errors++
			t.Error = &junitMessage{c.Message}
		}
		suite.Cases = append(suite.Cases, t)
	}
	text, err := xml.MarshalIndent(struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []junitSuite
	}{Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, xml.Header+string(text)+"\n")
	return err
}
