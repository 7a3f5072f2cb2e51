//go:build cgo

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries/compare"
)

// compareTable prints a comparison for people.
func (r *comparer) compareTable(result *compare.Result, rows []compare.Row) error {
	if err := r.comparisonCaption(result.Title(), result); err != nil {
		return err
	}
	fields, cells := comparedCells(result, rows)
	if err := r.Table(fields, cells, false); err != nil {
		return err
	}
	if n := len(result.Rows) - len(rows); n > 0 {
		return r.Printf("\n%d more rows, %d of them changed (--limit 0 prints all)\n", n, changed(result.Rows)-changed(rows))
	}
	return nil
}

// comparisonCaption prints what is compared, and what makes it unfair.
func (a *app) comparisonCaption(what string, result *compare.Result) error {
	if err := a.Printf("%s, metric %s, %s mode, %s\n", what, result.Metric, result.Mode, valueKind(result)); err != nil {
		return err
	}
	for _, side := range []struct {
		name string
		compare.Side
	}{{"base", result.Base}, {"test", result.Test}} {
		if err := a.Printf("  %s: %s (%s)\n", side.name, terminal.Printable(strings.Join(side.Selectors, " or ")), plural(len(side.Runs), "run")); err != nil {
			return err
		}
	}
	for _, w := range result.Where {
		if err := a.Printf("  only samples with %s\n", terminal.Printable(w)); err != nil {
			return err
		}
	}
	for _, functions := range result.Hidden {
		if err := a.Printf("  hidden: %s\n", terminal.Printable(functions)); err != nil {
			return err
		}
	}
	for _, d := range result.Environment {
		kind := "differs"
		if d.Unfair {
			kind = "warning: the sides differ in"
		}
		if err := a.Printf("  %s: %s: %s, and %s in the test\n", kind, d.What, shownValues(d.Base), shownValues(d.Test)); err != nil {
			return err
		}
	}
	for _, w := range result.Warnings {
		if err := a.Printf("  warning: %s\n", terminal.Printable(w)); err != nil {
			return err
		}
	}
	return a.Printf("\n")
}

// shownValues are values of the environment, for people.
func shownValues(values []string) string {
	return terminal.Printable(cmp.Or(compare.Few(values), "none"))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// changed counts the rows that differ.
func changed(rows []compare.Row) (n int) {
	for i := range rows {
		if rows[i].Changed() {
			n++
		}
	}
	return n
}

// valueKind says which values are compared, and how they were made comparable.
func valueKind(result *compare.Result) string {
	kind := "exclusive values"
	if result.Inclusive {
		kind = "inclusive values"
	}
	switch result.Normalize {
	case "total":
		kind += " as parts of <Total>"
	case "run":
		kind += " by the second of the run"
	}
	return "medians of " + kind
}

// comparedCells makes the cells of the printed table.
func comparedCells(result *compare.Result, rows []compare.Row) ([]terminal.Field, [][]string) {
	unit := comparedUnit(result)
	fields := []terminal.Field{{Name: "Base" + unit, Numeric: true}, {Name: "Test" + unit, Numeric: true}, {Name: "Difference", Numeric: true}, {Name: "Test to base", Numeric: true},
		{Name: fmt.Sprintf("%g %% interval", 100*result.Level), Numeric: true}, {Name: "Noise", Numeric: true}, {Name: "q", Numeric: true}, {Name: "Verdict"}}
	for _, c := range shownNames(result.Columns()) {
		fields = append(fields, terminal.Field{Name: strings.ToUpper(c[:1]) + strings.ReplaceAll(c[1:], "_", " "), Short: true})
	}
	var cells [][]string
	labels := compare.Labels(result.By, rows)
	for i, row := range rows {
		interval := ""
		if !math.IsNaN(row.Low) {
			interval = percentChange(row.Low) + " .. " + percentChange(row.High)
		}
		difference := comparedValue(result, row.Difference)
		if row.Difference > 0 {
			difference = "+" + difference
		}
		line := []string{comparedValue(result, row.Base), comparedValue(result, row.Test), difference, percentChange(row.Ratio), interval, noise(row.Noise), probability(row.Q), row.Verdict}
		names := slices.Clone(shownNames(row.Names))
		if labels[i] != "" {
			names[0] = labels[i]
		}
		cells = append(cells, append(line, names...))
	}
	return fields, cells
}

// shownNames are the names of a row that tables show; files have all.
func shownNames(names []string) []string { return names[:min(len(names), 2)] }

// comparedUnit is the unit of the values for a heading.
func comparedUnit(result *compare.Result) string {
	if result.Normalize == "total" {
		return " %"
	}
	unit := map[string]string{"ns": " s", "bytes": " bytes"}[result.Unit]
	if result.Normalize == "run" {
		unit += "/s"
	}
	return unit
}

func comparedValue(result *compare.Result, v float64) string {
	switch {
	case result.Normalize == "total":
		return fmt.Sprintf("%.2f", 100*v)
	case result.Unit == "ns":
		return fmt.Sprintf("%.3f", v/1e9)
	case v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// percentChange shows a ratio as a change.
func percentChange(ratio float64) string {
	switch {
	case math.IsNaN(ratio), math.IsInf(ratio, 1):
		return ""
	case ratio >= 10:
		return fmt.Sprintf("x%.3g", ratio)
	}
	return fmt.Sprintf("%+.1f%%", 100*(ratio-1))
}

// noise shows a change that halves of the base have by chance.
func noise(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return fmt.Sprintf("%.1f%%", 100*v)
}

func probability(q float64) string {
	switch {
	case math.IsNaN(q):
		return ""
	case q < 0.0001:
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", q)
}
