package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"stackmill/internal/terminal"
)

// The options on the page about unattended use are options of ingest, or of the verb before them.
func TestOperationsOptions(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(&app{stdin: strings.NewReader(""), Output: terminal.Output{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}})
	found := regexp.MustCompile("(?:stackmill ([a-z]+) )?[^`\n]*?--([a-z][a-z-]+)").FindAllStringSubmatch(string(text), -1)
	if len(found) < 20 {
		t.Errorf("%d options were found", len(found))
	}
	for _, m := range found {
		verb := m[1]
		if verb == "" {
			verb = "ingest"
		}
		c, _, err := root.Find([]string{verb})
		if err != nil {
			t.Errorf("no verb %s", verb)
			continue
		}
		if c.Flag(m[2]) == nil && c.InheritedFlags().Lookup(m[2]) == nil {
			t.Errorf("%s has no option --%s", verb, m[2])
		}
	}
}
