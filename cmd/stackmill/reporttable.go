package main

import (
	"fmt"
	"strconv"
)

// caption says above a table what it shows.
func (r *reporter) caption(s *selection) error {
	what := r.title
	if metric := s.onlyMetric(); metric != "" {
		what += ", metric " + metric
	}
	if r.mode != "" {
		what += ", " + r.mode + " mode"
	}
	if len(r.db.Commits) == 1 {
		what += ", experiment " + r.db.Experiments[0]
	}
	return r.printf("%s\n\n", what)
}

// onlyMetric returns the metric if there is but one.
func (s *selection) onlyMetric() string {
	only := ""
	for _, ms := range s.metrics {
		for _, m := range ms {
			if only != "" && only != m {
				return ""
			}
			only = m
		}
	}
	return only
}

// layout makes the cells of the printed table.
func (r *reporter) layout(s *selection, rows []record) ([]field, [][]string) {
	var fields []field
	if len(r.db.Commits) > 1 {
		fields = append(fields, field{name: "Experiment"})
	}
	if s.onlyMetric() == "" {
		fields = append(fields, field{name: "Metric"})
	}
	unit := unitOf(rows)
	for k, c := range r.columns {
		switch c.as {
		case metric:
			fields = append(fields, field{name: c.title + unit, numeric: true}, field{name: "%", numeric: true})
		case amount:
			fields = append(fields, field{name: c.title + unit, numeric: true})
		default:
			fields = append(fields, field{name: c.title, numeric: c.as != words, short: c.as == words && k+1 < len(r.columns) && !r.wide})
		}
	}
	cells := make([][]string, len(rows))
	for i, rec := range rows {
		if len(r.db.Commits) > 1 {
			cells[i] = append(cells[i], rec.text("experiment"))
		}
		if s.onlyMetric() == "" {
			cells[i] = append(cells[i], rec.text("metric"))
		}
		for _, c := range r.columns {
			cells[i] = append(cells[i], c.cells(rec)...)
		}
	}
	return fields, cells
}

const (
	// nameWidth is how much of a name a table shows in front of other columns: one
	// C++ template would otherwise push them out of sight.
	nameWidth = 80
	// cellWidth is how much any cell has: each row of a table is as wide as its
	// widest, so that one endless name would make gigabytes of blanks.
	cellWidth = 4096
)

// shorten takes out the middle of a text that is longer: both ends tell most.
func shorten(text string, width int) string {
	if len(text) <= width {
		return text
	}
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width*5/8-1]) + "…" + string(runes[len(runes)-width*3/8:])
	}
	return text
}

// unitOf names the unit for a heading when all rows have the same.
func unitOf(rows []record) string {
	unit := ""
	for i, rec := range rows {
		if i > 0 && rec.text("unit") != unit {
			return ""
		}
		unit = rec.text("unit")
	}
	switch unit {
	case "ns":
		return " s"
	case "bytes":
		return " bytes"
	}
	return ""
}

func (c reportColumn) cells(rec record) []string {
	if s, ok := rec[c.column].(string); ok {
		return []string{s}
	}
	if rec[c.column] == nil && c.as != metric {
		return []string{""}
	}
	n := rec.number(c.column)
	switch c.as {
	case metric:
		return []string{formatValue(n, rec.text("unit")), percent(n, rec.number("total"))}
	case amount:
		return []string{formatValue(n, rec.text("unit"))}
	case seconds:
		return []string{formatValue(n, "ns")}
	case address:
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
