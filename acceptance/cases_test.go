package acceptance

import (
	"path/filepath"
	"strconv"
	"testing"

	"stackmill/acceptance/golden"
)

// compared are the recordings whose goldens must agree with the store row by
// row; corrections and noLines say where the golden is not the truth.
var compared = []string{
	"recur", "recur_dw5", "recur_raw", "threads", "threads_raw", "forkexec", "cxx", "notail", "heap_many",
	"sync", "io", "all", "traps", "interpose", "clones",
}

// noLines are the recordings whose golden lines are not the truth: gprofng 2.40
// does not read DWARF 5, and takes the lines of inlined C++ code from the wrong
// level. TestDebugLines has their lines, and those of all others.
var noLines = map[string]bool{"recur_dw5": true, "cxx": true, "all": true}

// experiment returns the name of a recording's experiment.
func experiment(c string) string { return c + ".er" }

func readGolden(t *testing.T, c string) *golden.Experiment {
	t.Helper()
	x, err := golden.Read(filepath.Join(recordings, "golden", c))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// cell returns the value of a column, also when another table's columns are
// in another order.
func cell(x golden.Table, row int, col golden.Column) string {
	return x.Rows[row].Values[x.Column(col.Flavour, col.Metric)]
}

func isZero(s string) bool { return s == "0" || s == "0." }

// number64 reads a printed value: seconds, or a count.
func number64(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// asPrinted is a value in the unit in which it is printed.
func asPrinted(unit string, v int64) float64 {
	if unit == "ns" {
		return float64(v) / 1e9
	}
	return float64(v)
}
