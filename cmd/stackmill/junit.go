//go:build cgo

package main

import (
	"encoding/xml"
	"io"
	"strings"

	"stackmill/internal/atomicfile"
	"stackmill/queries/compare"
)

// The parts of JUnit's report that CI systems read.
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

// writeJUnit writes a test case for each check: violations are failures, and what could
// not be judged are errors. What the store lacks is the output of the tests.
func writeJUnit(name string, j *compare.Judgement, leftOut []string) error {
	suite := junitSuite{Name: "stackmill gate", Tests: len(j.Checks), Output: strings.Join(leftOut, "\n")}
	for _, c := range j.Checks {
		t := junitCase{Class: c.Rule, Name: c.Row}
		if t.Name == "" {
			t.Name = c.Rule
		}
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
	return atomicfile.Write(name, func(w io.Writer) error {
		_, err := io.WriteString(w, xml.Header+string(text)+"\n")
		return err
	})
}
