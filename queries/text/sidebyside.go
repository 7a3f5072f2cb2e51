//go:build cgo

package text

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
)

// sideRow is a row of a table with several metrics side by side.
type sideRow struct {
	first queries.Record
	of    map[string]queries.Record // by metric
}

// sideBySide prints a table with a column for each requested metric. The rows are sorted by
// the first metric; rows that lack it follow, sorted by the next one.
func (r *Report) sideBySide(q *report.Question, rows []queries.Record) error {
	fields := r.sideFields(q, rows)
	var cells [][]string
	for _, group := range split(rows, "experiment") {
		for _, row := range atMost(r.Limit, sideRows(q, group)) {
			cells = append(cells, r.sideCells(q, row))
		}
	}
	return r.Table(fields, cells, r.Format == "markdown")
}

// sideRows joins the rows of an experiment that are about one thing.
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

// values are the columns that differ between the rows of one function, line or other item.
var values = []string{"metric", "unit", "total", "high", "exclusive", "inclusive", "attributed", "value", "samples"}

// thing returns a key of a row's item (a function, line, ...): all columns that are no values.
func thing(rec queries.Record) string {
	var parts []string
	for name, v := range rec {
		if v != nil && !slices.Contains(values, name) {
			parts = append(parts, fmt.Sprintf("%s=%v", name, v))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

// ofMetric reports whether a column holds values of a metric.
func ofMetric(c report.Column) bool {
	return c.As == report.Metric || c.As == report.Amount || c.Name == "samples"
}

func (r *Report) sideFields(q *report.Question, rows []queries.Record) (fields []terminal.Field) {
	if r.DB.Count > 1 {
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
	if r.DB.Count > 1 {
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
