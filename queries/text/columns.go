//go:build cgo

package text

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/schema"
)

// layout makes the cells of the printed table.
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

// heading returns the columns that say what the caption does not: the experiment and the metric.
func (r *Report) heading(q *report.Question) (columns []report.Column) {
	if r.DB.Count > 1 {
		columns = append(columns, report.Column{Name: "experiment", Title: "Experiment"})
	}
	if q.OnlyMetric() == "" && q.Measured() {
		columns = append(columns, report.Column{Name: "metric", Title: "Metric"})
	}
	return columns
}

// fields returns the printed columns of the report's kth column: two for a metric, one for others.
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

// unitOf returns the unit of the rows for a heading, "" if they differ.
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

// cellsOf formats a column of a row: two cells for a metric, one for others.
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
