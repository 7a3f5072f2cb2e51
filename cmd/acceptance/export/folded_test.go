package export

import (
	"strconv"
	"strings"
	"testing"

	"stackmill/queries/export"
)

// Folded stacks sum to `<Total>`, for one experiment and for all.
func TestFoldedSums(t *testing.T) {
	for _, names := range append([][]string{recordings}, []string{"recur"}, []string{"omp_gcc"}) {
		var selectors []string
		for _, n := range names {
			selectors = append(selectors, n+".er")
		}
		db := only(t, selectors...)
		for _, mode := range export.Modes {
			text := string(exported(t, db, export.Request{As: "folded", Metric: "totalcpu", Mode: mode}))
			var sum int64
			seen := map[string]bool{}
			for line := range strings.Lines(text) {
				at := strings.LastIndexByte(line, ' ')
				n, err := strconv.ParseInt(strings.TrimSuffix(line[at+1:], "\n"), 10, 64)
				if err != nil || seen[line[:at]] {
					t.Fatalf("%q: %v, seen %t", line, err, seen[line[:at]])
				}
				seen[line[:at]] = true
				sum += n
			}
			if want := total(t, db, "totalcpu", mode); sum != want || sum == 0 {
				t.Errorf("%s, %s mode: sum %d, want %d", names, mode, sum, want)
			}
		}
	}
}
