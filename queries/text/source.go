//go:build cgo

package text

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
)

// source prints source lines with their values. Names of functions stand at their first lines, and
// inlined code, if requested, below the lines that call it.
func (r *Report) source(ctx context.Context, q *report.Question, rows []queries.Record) error {
	inlined, err := q.Inlined(ctx)
	if err != nil {
		return err
	}
	return r.sections(q, rows, func(w *terminal.Page, group []queries.Record) (leftOut, error) {
		shown, left := r.limited(group, "lines")
		for j, file := range split(shown, "file") {
			if j > 0 {
				w.Printf("\n")
			}
			r.sourceFile(w, !q.OfFunctions(), file, inlined)
		}
		return left, nil
	})
}

// sourceFile prints lines of one file: if whole, all lines, else those with rows.
func (r *Report) sourceFile(w *terminal.Page, whole bool, rows []queries.Record, inlined map[report.Line][]queries.Record) {
	file := rows[0].Text("file")
	w.Printf("Source file %s\n", file)
	last := rows[len(rows)-1].Number("line")
	var text []string
	if !slices.ContainsFunc(rows, func(rec queries.Record) bool { return rec["text"] != nil }) {
		text = r.sourceText(w, file, last)
	}
	w.Printf("   %12s %6s %12s %6s\n", "Excl."+unitOf(rows), "%", "Incl."+unitOf(rows), "%")
	next := rows[0].Number("line") // the line to print
	if text != nil && whole {
		next, last = 1, int64(len(text))
	}
	for _, rec := range rows {
		line := rec.Number("line")
		for ; text != nil && next < line; next++ {
			printLine(w, queries.Record{"line": next, "text": text[next-1]})
		}
		if text != nil && line > 0 {
			rec["text"] = text[line-1]
		}
		printLine(w, rec)
		for _, place := range inlined[report.Line{Experiment: rec.Text("experiment_id"), Metric: rec.Text("metric"), File: file, Number: line}] {
			place["total"] = rec["total"]
			where := place.Text("inlined_file")
			w.Printf("   %s        %s+ %s, line %d of %s\n", valueColumns(place), strings.Repeat("  ", int(place.Number("depth"))),
				place.Text("function"), place.Number("inlined_line"), where[strings.LastIndex(where, "/")+1:])
		}
		next = line + 1
	}
	for ; text != nil && whole && next <= last; next++ {
		printLine(w, queries.Record{"line": next, "text": text[next-1]})
	}
}

// printLine prints a source line. A line without code has no values.
func printLine(w *terminal.Page, rec queries.Record) {
	if names := rec.Text("functions"); names != "" {
		w.Printf("%50s<Function: %s>\n", "", names)
	}
	values := strings.Repeat(" ", 39)
	if rec["has_code"] == true {
		values = valueColumns(rec)
	}
	number := "?"
	if n := rec.Number("line"); n > 0 {
		number = fmt.Sprint(n)
	}
	w.Linef(styleOf(rec), "%s", terminal.SourceLine(strings.TrimRight(fmt.Sprintf("%s %s %7s. %s", mark(rec), values, number, rec.Text("text")), " ")))
}

// mark returns the mark for rows with high values, or blanks.
func mark(rec queries.Record) string {
	if rec["high"] == true {
		return "##"
	}
	return "  "
}

// styleOf returns the style of a line: rows with high values stand out.
func styleOf(rec queries.Record) terminal.Style {
	if rec["high"] == true {
		return terminal.Hot
	}
	return terminal.Plain
}

// valueColumns returns the exclusive and inclusive values of a row, with percentages, as a text.
func valueColumns(rec queries.Record) string {
	unit, total := rec.Text("unit"), rec.Number("total")
	return fmt.Sprintf("%12s %6s %12s %6s", Value(rec.Number("exclusive"), unit), Percent(rec.Number("exclusive"), total),
		Value(rec.Number("inclusive"), unit), Percent(rec.Number("inclusive"), total))
}

// sourceText reads the text of a file that the store does not have. It prints the path from which it
// was read, or that the text is missing or ends before lines with values.
func (r *Report) sourceText(w *terminal.Page, file string, last int64) []string {
	path, lines, err := r.ReadSource(file)
	switch {
	case err != nil:
		w.Printf("no text of %s: %v\n", file, err)
	case int64(len(lines)) < last:
		w.Printf("no text of %s: %s has %d lines, but the program has code from line %d\n", file, path, len(lines), last)
	default:
		w.Printf("text of %s\n", path)
		return lines
	}
	return nil
}
