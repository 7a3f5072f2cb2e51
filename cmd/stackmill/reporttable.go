//go:build cgo

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/schema"
)

// caption prints above a table what it shows.
func (r *reporter) caption(ctx context.Context, q *report.Question) error {
	what := r.Title
	if metric := q.OnlyMetric(); metric != "" {
		what += ", metric " + metric
	}
	if r.Mode != "" && r.HasModes() {
		what += ", " + r.Mode + " mode"
	}
	if r.db.Count == 1 {
		what += ", experiment " + r.db.Single
	}
	if err := r.Printf("%s\n", what); err != nil {
		return err
	}
	if r.db.IsFiltered() {
		if err := r.filtered(ctx, q); err != nil {
			return err
		}
	}
	return r.Printf("\n")
}

// layout makes the cells of the printed table.
func (r *reporter) layout(q *report.Question, rows []queries.Record) ([]terminal.Field, [][]string) {
	var fields []terminal.Field
	if r.db.Count > 1 {
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
			fields = append(fields, terminal.Field{Name: c.Title, Numeric: c.As != report.Words, Short: c.As == report.Words && k+1 < len(r.Columns) && !r.wide, Whole: r.wide})
		}
	}
	cells := make([][]string, len(rows))
	for i, rec := range rows {
		if r.db.Count > 1 {
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

// unitOf names the unit for a heading when all rows have the same.
func unitOf(rows []queries.Record) string {
	unit := ""
	for i, rec := range rows {
		if i > 0 && rec.Text("unit") != unit {
			return ""
		}
		unit = rec.Text("unit")
	}
	switch unit {
	case "ns":
		return " s"
	case "bytes":
		return " bytes"
	}
	return ""
}

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
		return []string{formatValue(n, rec.Text("unit")), percent(n, rec.Number("total"))}
	case report.Amount:
		return []string{formatValue(n, rec.Text("unit"))}
	case report.Time, report.Moment:
		return []string{fmt.Sprintf("%.6f", float64(n)/1e9)}
	case report.Seconds:
		return []string{formatValue(n, "ns")}
	case report.Address:
		if c.Name == "code_offset" && n >= schema.NoFileOffset {
			return []string{""}
		}
		return []string{fmt.Sprintf("%#x", uint64(n))}
	}
	return []string{strconv.FormatInt(n, 10)}
}

// formatValue prints a metric's value: times as seconds with 3 decimals.
func formatValue(n int64, unit string) string {
	if unit == "ns" {
		return fmt.Sprintf("%.3f", float64(n)/1e9)
	}
	return strconv.FormatInt(n, 10)
}

func percent(n, total int64) string {
	if total == 0 {
		return "0.00"
	}
	return fmt.Sprintf("%.2f", 100*float64(n)/float64(total))
}
