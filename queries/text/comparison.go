//go:build cgo

package text

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries/compare"
)

// Comparison prints the first rows of a comparison.
func Comparison(out *terminal.Output, result *compare.Result, rows []compare.Row) error {
	if err := out.Printf("%s\n\n", result.Headline()); err != nil {
		return err
	}
	if err := comparisonCaption(out, result.Title(), result); err != nil {
		return err
	}
	fields, cells := ComparisonCells(result, rows)
	if err := out.Table(fields, cells, false); err != nil {
		return err
	}
	if n := len(result.Rows) - len(rows); n > 0 {
		return out.Printf("\n%s, %d of them changed (--limit 0 prints all)\n", Plural(n, "more row"), Changed(result.Rows)-Changed(rows))
	}
	return nil
}

// comparisonCaption prints what is compared, and the differences that make the comparison unfair.
func comparisonCaption(out *terminal.Output, title string, result *compare.Result) error {
	w := out.Page()
	w.Printf("%s, metric %s, %s mode, %s\n", title, result.Metric, result.Mode, valueKind(result))
	for _, side := range []struct {
		name string
		compare.Side
	}{{"base", result.Base}, {"test", result.Test}} {
		w.Printf("  %s: %s (%s)\n", side.name, strings.Join(side.Selectors, " or "), Plural(len(side.Runs), "run"))
	}
	if text := designText(result); text != "" {
		w.Printf("  %s\n", text)
	}
	for _, condition := range result.Where {
		w.Printf("  only samples with %s\n", condition)
	}
	for _, functions := range result.Hidden {
		w.Printf("  hidden: %s\n", functions)
	}
	for _, d := range result.Environment {
		kind := "differs"
		if d.Unfair {
			kind = "warning: the sides differ in"
		}
		w.Printf("  %s: %s: base %s; test %s\n", kind, d.What, environmentValues(d.Base), environmentValues(d.Test))
	}
	for _, warning := range result.Warnings {
		w.Printf("  warning: %s\n", warning)
	}
	w.Printf("\n")
	return w.Flush()
}

// designText describes which runs are compared with each other; it returns "" if all are.
func designText(result *compare.Result) string {
	switch d := result.Design; {
	case d.Paired:
		return fmt.Sprintf("runs with the same %s are compared with each other (%s)", d.Key, Plural(d.Blocks, "pair"))
	case d.Blocks > 0:
		return fmt.Sprintf("runs are compared only with runs of the same %s (%d of them; --block none compares all)", d.Key, d.Blocks)
	}
	return ""
}

// Unfair returns the differences between the sides that make the comparison unfair.
func Unfair(result *compare.Result) (all []string) {
	for _, d := range result.Environment {
		if d.Unfair {
			all = append(all, terminal.Printable(fmt.Sprintf("the sides differ in %s: base %s; test %s", d.What, environmentValues(d.Base), environmentValues(d.Test))))
		}
	}
	return all
}

func environmentValues(values []string) string { return cmp.Or(compare.Few(values), "none") }

// Changed returns the number of rows that differ.
func Changed(rows []compare.Row) (n int) {
	for i := range rows {
		if rows[i].Changed() {
			n++
		}
	}
	return n
}

// valueKind returns a text that says which values are compared.
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

// ComparisonCells returns the columns and cells of a table.
func ComparisonCells(result *compare.Result, rows []compare.Row) ([]terminal.Field, [][]string) {
	unit := comparisonUnit(result)
	fields := []terminal.Field{{Name: "Base" + unit, Numeric: true, Drop: 1}, {Name: "Test" + unit, Numeric: true}, {Name: "Difference", Numeric: true, Drop: 2}, {Name: "Test to base", Numeric: true},
		{Name: fmt.Sprintf("%g %% interval", 100*result.Level), Numeric: true}, {Name: "Noise", Numeric: true, Drop: 5}, {Name: "q", Numeric: true, Drop: 4}, {Name: "Verdict"}}
	for i, c := range tableNames(result.Columns()) {
		field := terminal.Field{Name: strings.ToUpper(c[:1]) + strings.ReplaceAll(c[1:], "_", " "), Short: true, Path: true}
		if i > 0 && c != "line" {
			field.Drop = 3
		}
		fields = append(fields, field)
	}
	var cells [][]string
	labels := compare.Labels(result.By, rows)
	for i, row := range rows {
		interval := ""
		if !math.IsNaN(row.Low) {
			interval = percentChange(row.Low) + " .. " + percentChange(row.High)
		}
		noise := "" // a change that halves of the base have by chance
		if !math.IsNaN(row.Noise) && !math.IsInf(row.Noise, 0) {
			noise = fmt.Sprintf("%.1f%%", 100*row.Noise)
		}
		difference := comparisonValue(result, row.Difference)
		if row.Difference > 0 {
			difference = "+" + difference
		}
		line := []string{comparisonValue(result, row.Base), comparisonValue(result, row.Test), difference, percentChange(row.Ratio), interval, noise, probability(row.Q), row.Verdict}
		names := slices.Clone(tableNames(row.Names))
		if labels[i] != "" {
			names[0] = labels[i]
		}
		cells = append(cells, append(line, names...))
	}
	return fields, cells
}

// tableNames returns the names of a row that a table has room for. Other formats have all names.
func tableNames(names []string) []string { return names[:min(len(names), 2)] }

// comparisonUnit returns the unit of the values for a heading.
func comparisonUnit(result *compare.Result) string { return result.UnitTitle() }

func comparisonValue(result *compare.Result, v float64) string { return result.Value(v) }

func percentChange(ratio float64) string { return compare.PercentChange(ratio) }

func probability(q float64) string { return compare.Probability(q) }
