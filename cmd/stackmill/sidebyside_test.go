package main

import (
	"slices"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/queries/storetest"
)

// TestSideRows joins the rows that are about one function.
func TestSideRows(t *testing.T) {
	row := func(metric string, function, exclusive int64) queries.Record {
		return queries.Record{"metric": metric, "unit": metric, "function_id": function, "exclusive": exclusive, "total": exclusive}
	}
	rows := []queries.Record{row("bytes", 2, 10), row("bytes", 3, 20), row("ns", 1, 30), row("ns", 2, 40)}
	var got []int64
	for _, r := range sideRows(&report.Question{Side: []string{"ns", "bytes"}}, rows) {
		got = append(got, r.first.Number("function_id"), r.of["ns"].Number("exclusive"), r.of["bytes"].Number("exclusive"))
	}
	if want := []int64{1, 30, 0, 2, 40, 10, 3, 0, 20}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestSideBySide prints two metrics beside each other: each cell is that of the metric's
// own table, and 0 where that has no row.
func TestSideBySide(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	for _, name := range []string{"functions", "lines", "pcs", "load-objects", "modules", "threads", "cpus", "processes", "folded"} {
		report := func(metric string) (lines [][]string) {
			out, errs, code := call("report", name, "--metric", metric, "--experiment", "test.1.er", "--store", store, "--format", "table")
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
