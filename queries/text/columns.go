//go:build cgo

package text

import (
	"fmt"
	"strconv"
	"time"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/schema"
)

// layout makes the cells of the printed table.
func (r *Report) layout(q *report.Question, rows []queries.Record) ([]terminal.Field, [][]string) {
	var fields []terminal.Field
	if r.DB.Count > 1 {
		fields = append(fields, terminal.Field{Name: "Experiment"})
	}
	if q.OnlyMetric() == "" && q.Measured() {
		fields = append(fields, terminal.Field{Name: "Metric"})
	}
	unit := unitOf(rows)
	for k, c := range r.Columns {
		switch c.As {
		case report.Metric:
			fields = append(fields, terminal.Field{Name: c.Title + unit, Numeric: true}, terminal.Field{Name: "%", Numeric: true})
		case report.Amount:
			fields = append(fields, terminal.Field{Name: c.Title + unit, Numeric: true})
		default:
			fields = append(fields, terminal.Field{Name: c.Title, Numeric: c.As != report.Words, Short: c.As == report.Words && k+1 < len(r.Columns) && !r.Wide, Whole: r.Wide})
		}
	}
	cells := make([][]string, len(rows))
	for i, rec := range rows {
		if r.DB.Count > 1 {
			cells[i] = append(cells[i], rec.Text("experiment"))
		}
		if q.OnlyMetric() == "" && q.Measured() {
			cells[i] = append(cells[i], rec.Text("metric"))
		}
		for _, c := range r.Columns {
			cells[i] = append(cells[i], cellsOf(c, rec)...)
		}
	}
	return fields, cells
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

// unitTitle returns a unit for a heading.
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
