package text

import (
	"slices"
	"testing"

	"stackmill/queries"
	"stackmill/queries/report"
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
