package acceptance

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"stackmill/queries"
	"stackmill/queries/report"
)

// answered returns the rows of a report about all recordings, with all metrics.
func answered(t *testing.T, r report.Request) []queries.Record {
	t.Helper()
	q, err := report.Ask(t.Context(), shared, &r)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := q.Drawing(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", r.Name, err)
	}
	return rows
}

// TestSums checks that nothing is lost or counted twice when all recordings are added up: in every
// report, the sum has the values of the rows of all recordings. No two functions in it have the same
// name, and no row has less than its smallest part.
func TestSums(t *testing.T) {
	for _, name := range report.Reports {
		if !name.CanAdd() {
			continue
		}
		for _, mode := range []string{"user", "machine"} {
			for _, inline := range []bool{false, true} {
				r := report.Defaults()
				r.Report, r.Mode, r.File = name, mode, ""
				switch {
				case inline && (mode != "user" || r.Inlined().View == r.View), mode != "user" && !r.HasModes(), name.Name == "source" || name.Name == "disasm":
					continue // the same values again, or only the code with the highest value
				case inline:
					r.Report, r.Inline = r.Inlined(), true
				}
				if r.Measured() {
					r.Metric = "all"
				}
				each := columnSums(answered(t, r))
				r.Sum = true
				rows := answered(t, r)
				if r.ListsApart() && len(rows) == 0 {
					continue
				}
				for column, want := range each {
					if got := columnSums(rows)[column]; math.Abs(got-want) > 1e-6*math.Abs(want) {
						t.Errorf("%s, %s mode, inline %v: %s is %v in the sum, %v in all recordings", r.Name, mode, inline, column, got, want)
					}
				}
				if r.Name == "functions" {
					checkSummedNames(t, rows)
				}
				for _, rec := range rows {
					if n, of := rec.Number("present_in"), rec.Number("experiments"); !r.ListsApart() && (n < 1 || n > of) {
						t.Errorf("%s: a row is in %d of %d recordings", r.Name, n, of)
					}
				}
			}
		}
	}
}

// summedColumns are columns that some reports add up.
var summedColumns = []string{"exclusive", "inclusive", "attributed", "value", "samples", "allocations", "allocated_bytes", "leaks", "leaked_bytes", "blocks", "bytes",
	"reads", "read_bytes", "read_ns", "writes", "written_bytes", "others", "errors", "calls", "waits", "wait_ns", "on_ns", "real_ns", "user_ns", "minor_faults", "mappings"}

// columnSums returns the sums of the columns, by metric and column.
func columnSums(rows []queries.Record) map[string]float64 {
	sums := map[string]float64{}
	for _, rec := range rows {
		for _, c := range summedColumns {
			if rec[c] != nil {
				sums[rec.Text("metric")+" "+c] += float64(rec.Number(c))
			}
		}
	}
	return sums
}

// checkSummedNames checks that no two functions of a sum have the same name, and that the spread of their
// values agrees with the sum.
func checkSummedNames(t *testing.T, rows []queries.Record) {
	t.Helper()
	var names []string
	for _, rec := range rows {
		names = append(names, fmt.Sprint(rec.Text("metric"), " ", rec.Text("label")))
		sum, n := rec.Number("exclusive"), rec.Number("experiments")
		least, most := rec.Number("exclusive_min"), rec.Number("exclusive_max")
		if least*n > sum || most*n < sum || most > sum || rec.Number("present_in") < n && least != 0 {
			t.Errorf("%s: from %d to %d in %d recordings do not sum to %d", rec.Text("label"), least, most, n, sum)
		}
	}
	slices.Sort(names)
	for i := range names {
		if i > 0 && names[i] == names[i-1] {
			t.Errorf("two functions of the sum are %s", names[i])
		}
	}
}
