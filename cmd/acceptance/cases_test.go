package acceptance

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/golden"
)

// compared are the recordings whose goldens must agree with the store row by row, except where
// corrections or noLines say that the golden is wrong. Not among them are plt_sec, in whose golden
// the instructions of the PLT are separate functions (S22; TestTruth covers it), and java, whose
// golden was made with a library that the recording does not contain.
var compared = []string{
	"alias", "all", "clones", "cxx", "deep", "deep_big", "dlreload", "entry", "forkexec", "heap", "heap_many",
	"interpose", "io", "jit_api", "jit_none", "notail", "omp_clang", "omp_gcc", "outline", "plt_lazy", "plt_noplt",
	"recur", "recur_dw5", "recur_raw", "signals", "stripmain", "sync", "tail", "threads", "threads_raw", "traps",
}

// noLines are recordings in whose goldens lines are wrong. gprofng 2.40 does not read DWARF 5, and
// takes the lines of inlined C++ code from the wrong level. Besides, the call that rule S12 inserts
// has another line. TestDebugLines checks the lines of all recordings.
var noLines = map[string]bool{"recur_dw5": true, "cxx": true, "all": true, "outline": true}

// goldenMode returns the mode in which the store shows the same as gprofng. Contrary to the manual,
// gprofng shows the bodies of parallel regions in user mode, too (S11).
func goldenMode(experiment string) string {
	if strings.HasPrefix(experiment, "omp_") {
		return "machine"
	}
	return "user"
}

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

// cell returns the value of a column, which may be at another position in another table.
func cell(x golden.Table, row int, col golden.Column) string {
	return x.Rows[row].Values[x.Column(col.Flavor, col.Metric)]
}

func isZero(s string) bool { return s == "0" || s == "0." }

// number64 parses a printed value: seconds, or a count.
func number64(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// asPrinted converts a value to the unit in which it is printed.
func asPrinted(unit string, v int64) float64 {
	if unit == "ns" {
		return float64(v) / 1e9
	}
	return float64(v)
}
