package main

import (
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// TestSideBySide prints two metrics side by side: each cell equals the one in the metric's own
// table, or is 0 if that has no such row.
func TestSideBySide(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	for _, name := range []string{"functions", "lines", "pcs", "load-objects", "modules", "threads", "cpus", "processes", "folded"} {
		report := func(metric string) (lines [][]string) {
			out, errs, code := call("report", name, "--metric", metric, "--experiment", "test.1.er", "--each", "--store", store, "--format", "table")
			if code != 0 {
				t.Fatalf("%s: %s", name, errs)
			}
			for _, line := range strings.Split(out, "\n") {
				if fields := strings.Fields(line); len(fields) > 0 {
					lines = append(lines, fields)
				}
			}
			return lines
		}
		both, one, other := report("totalcpu,heapallocbytes"), report("totalcpu"), report("heapallocbytes")
		if len(both) < max(len(one), len(other)) || len(both) > len(one)+len(other) {
			t.Errorf("%s: %d lines, of %d and %d", name, len(both), len(one), len(other))
		}
		for _, line := range append(one[3:], other[3:]...) {
			found := false
			for _, b := range both {
				found = found || contains(b, line)
			}
			if !found {
				t.Errorf("%s: %q is not in %q", name, line, both)
			}
		}
	}
}

// contains reports whether the words of a line are words of another one, in their order.
func contains(words, line []string) bool {
	for _, w := range words {
		if len(line) > 0 && w == line[0] {
			line = line[1:]
		}
	}
	return len(line) == 0
}
