//go:build cgo

package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/schema"
)

// layout returns the columns and cells of a report that is printed as a table.
func (r *Report) layout(q *report.Question, rows []queries.Record) ([]terminal.Field, [][]string) {
	heading := r.heading(q)
	var fields []terminal.Field
	for _, c := range heading {
		fields = append(fields, terminal.Field{Name: c.Title})
	}
	for k := range r.Columns {
		fields = append(fields, r.fields(k, "", unitOf(rows))...)
	}
	cells := make([][]string, len(rows))
	for i, rec := range rows {
		for _, c := range slices.Concat(heading, r.Columns) {
			cells[i] = append(cells[i], cellsOf(c, rec)...)
		}
	}
	return fields, cells
}

// heading returns the first columns of the table: experiment and metric, unless the caption has
// named the only one.
func (r *Report) heading(q *report.Question) (columns []report.Column) {
	if r.showsExperiment() {
		columns = append(columns, report.Column{Name: "experiment", Title: "Experiment"})
	}
	if q.OnlyMetric() == "" && q.Measured() {
		columns = append(columns, report.Column{Name: "metric", Title: "Metric"})
	}
	return columns
}

// showsExperiment reports whether tables have a column with the experiment.
func (r *Report) showsExperiment() bool { return r.DB.Count > 1 && (!r.Sum || r.ListsApart()) }

// fields returns the printed columns for the report's kth column: for a metric its value and its
// percentage, for others one column.
func (r *Report) fields(k int, of, unit string) []terminal.Field {
	c := r.Columns[k]
	words := c.As == report.Words
	one := terminal.Field{Name: c.Title + of, Numeric: !words, Short: words && k+1 < len(r.Columns) && !r.Wide, Whole: words && r.Wide}
	if c.As == report.Metric || c.As == report.Amount {
		one.Name += unit
	}
	if c.As == report.Metric {
		return []terminal.Field{one, {Name: "%", Numeric: true}}
	}
	return []terminal.Field{one}
}

// unitOf returns the unit of all rows, for a heading; "" if they have different units.
func unitOf(rows []queries.Record) string {
	unit := ""
	for i, rec := range rows {
		if i > 0 && rec.Text("unit") != unit {
			return ""
		}
		unit = rec.Text("unit")
	}
	return unitTitle(unit)
}

func unitTitle(unit string) string {
	switch unit {
	case "ns":
		return " s"
	case "bytes":
		return " bytes"
	}
	return ""
}

// cellsOf formats the value of a column in a row. It returns one cell for each printed column (see
// fields).
func cellsOf(c report.Column, rec queries.Record) []string {
	if s, ok := rec[c.Name].(string); ok {
		if c.Name == "unit" && s == "ns" {
			s = "s" // as values are shown
		}
		return []string{s}
	}
	if t, ok := rec[c.Name].(time.Time); ok {
		return []string{t.UTC().Format(time.RFC3339)}
	}
	if rec[c.Name] == nil && c.As != report.Metric {
		return []string{""}
	}
	if b, ok := rec[c.Name].(bool); ok {
		return []string{strconv.FormatBool(b)}
	}
	if f, ok := rec[c.Name].(float64); ok {
		switch unit := rec.Text("unit"); {
		case c.As == report.Ratio:
			return []string{fmt.Sprintf("%.2f", f)}
		case c.As == report.Time || c.As == report.Moment:
			return []string{fmt.Sprintf("%.6f", f/1e9)}
		case c.As == report.Seconds || c.As == report.Amount && unit == "ns":
			return []string{fmt.Sprintf("%.3f", f/1e9)}
		}
		return []string{strconv.FormatFloat(f, 'f', -1, 64)}
	}
	n := rec.Number(c.Name)
	switch c.As {
	case report.Metric:
		return []string{Value(n, rec.Text("unit")), Percent(n, rec.Number("total"))}
	case report.Amount:
		return []string{Value(n, rec.Text("unit"))}
	case report.Time, report.Moment:
		return []string{fmt.Sprintf("%.6f", float64(n)/1e9)}
	case report.Seconds:
		return []string{Value(n, "ns")}
	case report.Address:
		if c.Name == "code_offset" && n >= schema.NoFileOffset {
			return []string{""}
		}
		return []string{fmt.Sprintf("%#x", uint64(n))}
	}
	return []string{strconv.FormatInt(n, 10)}
}

// sideRow is a row of a table with several metrics side by side.
type sideRow struct {
	first queries.Record
	of    map[string]queries.Record // metric -> the row with the metric's values
}

// sideBySide prints a table with a column for each requested metric. Rows with the first metric
// come first, sorted by it; then rows with the second metric, and so on.
func (r *Report) sideBySide(q *report.Question, rows []queries.Record) error {
	fields, left := r.sideFields(q, rows), leftOut{what: "rows"}
	var cells [][]string
	for _, group := range r.experimentsOf(rows) {
		table := sideRows(q, group)
		shown := atMost(r.Limit, table)
		for _, row := range shown {
			cells = append(cells, r.sideCells(q, row))
		}
		if n := len(table) - len(shown); n > 0 {
			left.rows, left.lists = left.rows+n, left.lists+1
		}
	}
	if err := r.Table(fields, cells, r.Format == "markdown"); err != nil {
		return err
	}
	return r.sayLeftOut(q, left)
}

// sideRows merges the rows of an experiment that differ only in the metric into one sideRow.
func sideRows(q *report.Question, rows []queries.Record) (table []*sideRow) {
	at := map[string]*sideRow{}
	for _, metric := range q.Side {
		for _, rec := range rows {
			if rec.Text("metric") != metric {
				continue
			}
			key := thing(rec)
			row := at[key]
			if row == nil {
				row = &sideRow{rec, map[string]queries.Record{}}
				at[key], table = row, append(table, row)
			}
			row.of[metric] = rec
		}
	}
	return table
}

// values are the columns whose values depend on the metric; the other columns of a row say what it
// is about.
var values = []string{"metric", "unit", "total", "high", "exclusive", "inclusive", "attributed", "value", "samples"}

// thing returns a key of what a row is about (a function, line, ...): the values of all columns
// except values.
func thing(rec queries.Record) string {
	var parts []string
	for name, v := range rec {
		if v != nil && !slices.Contains(values, name) && !ofSum(name) {
			parts = append(parts, fmt.Sprintf("%s=%v", name, v))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

// ofSum reports whether a column belongs to a sum only: the number of experiments with the row, the
// spread of its values, or the rows and values that a limit leaves out. Such columns depend on the
// metric.
func ofSum(column string) bool {
	if strings.Contains(column, " ") || slices.Contains([]string{"experiments", "present_in", "of_experiment"}, column) {
		return true
	}
	return slices.ContainsFunc(report.Spread, func(of string) bool {
		name, ok := strings.CutSuffix(column, report.SpreadOf("", of))
		return ok && slices.Contains(values, name)
	})
}

// experimentsOf splits rows by experiment. The rows of a sum stay together.
func (r *Report) experimentsOf(rows []queries.Record) [][]queries.Record {
	if r.Sum && len(rows) > 0 {
		return [][]queries.Record{rows}
	}
	return split(rows, "experiment")
}

// ofMetric reports whether a column holds values of a metric.
func ofMetric(c report.Column) bool {
	return c.As == report.Metric || c.As == report.Amount || c.As == report.Ratio || c.Name == "samples"
}

func (r *Report) sideFields(q *report.Question, rows []queries.Record) (fields []terminal.Field) {
	if r.showsExperiment() {
		fields = append(fields, terminal.Field{Name: "Experiment"})
	}
	for _, metric := range q.Side {
		of := slices.DeleteFunc(slices.Clone(rows), func(rec queries.Record) bool { return rec.Text("metric") != metric })
		for k, c := range r.Columns {
			if ofMetric(c) {
				fields = append(fields, r.fields(k, " "+metric, unitOf(of))...)
			}
		}
	}
	for k, c := range r.Columns {
		if !ofMetric(c) {
			fields = append(fields, r.fields(k, "", "")...)
		}
	}
	return fields
}

func (r *Report) sideCells(q *report.Question, row *sideRow) (cells []string) {
	if r.showsExperiment() {
		cells = append(cells, row.first.Text("experiment"))
	}
	for _, metric := range q.Side {
		for _, c := range r.Columns {
			switch rec := row.of[metric]; {
			case !ofMetric(c):
			case rec != nil:
				cells = append(cells, cellsOf(c, rec)...)
			case c.As == report.Metric:
				cells = append(cells, "0", "0.00")
			default:
				cells = append(cells, "0")
			}
		}
	}
	for _, c := range r.Columns {
		if !ofMetric(c) {
			cells = append(cells, cellsOf(c, row.first)...)
		}
	}
	return cells
}
