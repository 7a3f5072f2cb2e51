package sums

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/annotate"
)

// annotated returns the annotated code of a function.
func annotated(t *testing.T, db *queries.DB, r annotate.Request) *annotate.Result {
	t.Helper()
	r.Mode = "user"
	got, err := annotate.Run(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Function == nil {
		t.Fatalf("%+v finds no function", r)
	}
	return got
}

// Annotated code adds up the lines and instructions of all runs of a build.
func TestAnnotatedRuns(t *testing.T) {
	needRecordings(t)
	of := "WHERE metric = 'heapallocbytes' AND mode = 'user' AND function_id IN (SELECT function_id FROM functions WHERE name = '%s')"
	sums := func(query string) map[int64]int64 {
		t.Helper()
		rows, err := shared.Records(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		values := map[int64]int64{}
		for _, r := range rows {
			values[r.Number("at")] = r.Number("value")
		}
		return values
	}
	functions, err := shared.Texts(t.Context(), `SELECT "function" FROM function_totals WHERE mode = 'user' AND metric = 'heapallocbytes' AND load_object = 'ranks' ORDER BY inclusive DESC LIMIT 4`)
	if err != nil || len(functions) < 2 {
		t.Fatal(functions, err)
	}
	for _, name := range functions {
		got := annotated(t, shared, annotate.Request{Metric: "heapallocbytes", Function: name})
		where := fmt.Sprintf(of, strings.ReplaceAll(name, "'", "''"))
		lines, instructions := map[int64]int64{}, map[int64]int64{}
		for i, line := range got.Lines.Line {
			if v := got.Lines.FunctionInclusive[i]; v != 0 {
				lines[line] = v
			}
		}
		for i, v := range got.Instructions.Inclusive {
			if v != 0 {
				instructions[got.Parts[0].Address+got.Instructions.Offset[i]] = v
			}
		}
		if want := sums(`SELECT line AS at, sum(inclusive)::BIGINT AS value FROM line_metrics ` + where + ` GROUP BY line HAVING value <> 0`); len(want) == 0 || !maps.Equal(lines, want) {
			t.Errorf("%s has the lines %v, want %v", name, lines, want)
		}
		if want := sums(`SELECT address AS at, sum(inclusive)::BIGINT AS value FROM disasm ` + where + ` GROUP BY address HAVING value <> 0`); len(want) == 0 || !maps.Equal(instructions, want) {
			t.Errorf("%s has the instructions %v, want %v", name, instructions, want)
		}
		if got.Runs != ranks || len(got.Builds) != 1 {
			t.Errorf("%s: %d runs of %d builds", name, got.Runs, len(got.Builds))
		}
	}
}

// checkBuilds tests that annotated code is of one of the two builds in a store, and which one can be chosen. keep
// allocates bytes in each run.
func checkBuilds(t *testing.T, db *queries.DB, bytes int64) {
	t.Helper()
	newest := annotated(t, db, annotate.Request{Metric: "heapallocbytes", Function: "keep"})
	if len(newest.Builds) != 2 || newest.Build != 0 || newest.Runs != 1 || newest.Inclusive != bytes || newest.Builds[0].First < newest.Builds[1].First {
		t.Fatalf("build %d of %+v has %d runs with %d bytes", newest.Build, newest.Builds, newest.Runs, newest.Inclusive)
	}
	other := annotated(t, db, annotate.Request{Metric: "heapallocbytes", Function: "keep", Build: newest.Builds[1].ID})
	more := len(newest.Text) - len(other.Text) // lines that one build has above the others
	if other.Build != 1 || other.Inclusive != bytes || more != 2 && more != -2 {
		t.Errorf("the other build is %d with %d bytes and %d lines, the newest has %d lines", other.Build, other.Inclusive, len(other.Text), len(newest.Text))
	}
	first := func(a *annotate.Result) int64 {
		return a.Lines.Line[slices.IndexFunc(a.Lines.FunctionInclusive, func(v int64) bool { return v > 0 })]
	}
	if first(newest) != first(other)+int64(more) {
		t.Errorf("keep allocates at lines %d and %d, but %d lines differ", first(newest), first(other), more)
	}
}
