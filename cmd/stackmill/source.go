package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackmill/stages/symbolize/source"
)

// fileNamed is true for the file that is meant: a path, or the end of one.
func fileNamed(column, name string) string {
	return fmt.Sprintf("(%s = %s OR ends_with(%s, %s))", column, list([]string{name}), column, list([]string{"/" + name}))
}

// checkFile makes sure that a file of the name has lines with values.
func (r *reporter) checkFile(ctx context.Context) error {
	known, err := firstColumn(ctx, r.db, "SELECT DISTINCT file FROM source_values WHERE file <> '' AND modes & 7 <> 0 ORDER BY ALL")
	if err != nil {
		return err
	}
	bases := make([]string, len(known))
	for i, k := range known {
		if k == r.file || strings.HasSuffix(k, "/"+r.file) {
			return nil
		}
		bases[i] = k[strings.LastIndex(k, "/")+1:]
	}
	return fmt.Errorf("no line of a file %q has a value%s (stackmill report lines shows those that have)", r.file, near(slices.Compact(closest(r.file, bases))))
}

// sourceRows selects the file asked for, the lines of the functions asked for,
// or else the file in which most of the value is.
func (r *reporter) sourceRows(s *selection) string {
	var all []string
	if r.file != "" {
		all = append(all, fileNamed("v.file", r.file))
	}
	if s.functions != nil {
		all = append(all, "EXISTS (SELECT 1 FROM ("+extents(s.functions)+") x WHERE x.experiment_id = v.experiment_id AND x.file = v.file AND v.line BETWEEN x.first AND x.last)")
	}
	if all == nil {
		all = append(all, `(v.experiment_id, v.metric, v.file) IN (
  SELECT (s.experiment_id, s.metric, s.file)
  FROM source_values s JOIN modes m ON s.modes & m.bit <> 0
  WHERE m.mode = '`+r.mode+`' AND s.file <> ''
  GROUP BY s.experiment_id, s.metric, s.file
  QUALIFY row_number() OVER (PARTITION BY s.experiment_id, s.metric ORDER BY sum(s.exclusive) DESC, max(s.inclusive) DESC, s.file) = 1)`)
	}
	return strings.Join(all, " AND ")
}

// extents is a query of the first and last lines of functions, with those of
// their bodies (S11), in the file in which each starts, and of lines that have values.
func extents(names []string) string {
	return `WITH meant AS MATERIALIZED (SELECT experiment_id, function_id FROM functions WHERE list_has_any([name, gprofng_name, perf_name], [` + list(names) + `])),
parts AS MATERIALIZED (
  SELECT experiment_id, function_id FROM meant
  UNION
  SELECT f.experiment_id, f.function_id FROM functions f JOIN meant w ON w.experiment_id = f.experiment_id AND w.function_id = f.body_of AND f.kind = 'body'),
code AS MATERIALIZED (
  SELECT i.experiment_id, i.function_id, i.file, i.line FROM instructions i SEMI JOIN parts USING (experiment_id, function_id)
  WHERE i.line > 0
  QUALIFY i.file = first_value(i.file) OVER (PARTITION BY i.experiment_id, i.function_id ORDER BY i."offset"))
SELECT experiment_id, file, min(line) AS first, max(line) AS last FROM (
  SELECT * FROM code
  UNION ALL
  SELECT experiment_id, function_id, file, line FROM line_values v SEMI JOIN parts USING (experiment_id, function_id)
  WHERE modes & 7 <> 0 AND line > 0
) GROUP BY experiment_id, function_id, file`
}

// source prints source lines with their values, functions at their first lines
// and, if asked for, what was inlined below the lines that call it.
func (r *reporter) source(ctx context.Context, s *selection, rows []record) error {
	w := r.page()
	inlined, err := r.inlinedAt(ctx, s)
	if err != nil {
		return err
	}
	for i, group := range groups(rows) {
		if i > 0 {
			w.printf("\n")
		}
		r.groupTitle(w, s, group)
		if r.limit > 0 {
			group = group[:min(r.limit, len(group))]
		}
		for j, file := range runs(group, "file") {
			if j > 0 {
				w.printf("\n")
			}
			r.sourceFile(w, s.functions == nil, file, inlined)
		}
	}
	return w.flush()
}

// sourceFile prints lines of one file; whole, when all that it has are wanted.
func (r *reporter) sourceFile(w *page, whole bool, rows []record, inlined map[lineKey][]record) {
	file := rows[0].text("file")
	w.printf("Source file %s\n", file)
	last := rows[len(rows)-1].number("line")
	var text *source.Text
	if !slices.ContainsFunc(rows, func(rec record) bool { return rec["text"] != nil }) {
		text = r.sourceText(w, file, last)
	}
	w.printf("   %12s %6s %12s %6s\n", "Excl."+unitOf(rows), "%", "Incl."+unitOf(rows), "%")
	next := rows[0].number("line") // the line to print
	if text != nil && whole {
		next, last = 1, int64(len(text.Lines))
	}
	for _, rec := range rows {
		line := rec.number("line")
		for ; text != nil && next < line; next++ {
			printLine(w, record{"line": next, "text": text.Lines[next-1]})
		}
		if text != nil && line > 0 {
			rec["text"] = text.Lines[line-1]
		}
		printLine(w, rec)
		for _, place := range inlined[lineKey{rec.text("experiment_id"), rec.text("metric"), file, line}] {
			place["total"] = rec["total"]
			where := place.text("inlined_file")
			w.printf("   %s        %s+ %s, line %d of %s\n", valueColumns(place), strings.Repeat("  ", int(place.number("depth"))),
				place.text("function"), place.number("inlined_line"), where[strings.LastIndex(where, "/")+1:])
		}
		next = line + 1
	}
	for ; text != nil && whole && next <= last; next++ {
		printLine(w, record{"line": next, "text": text.Lines[next-1]})
	}
}

// printLine prints a line; lines without code have no values.
func printLine(w *page, rec record) {
	if names := rec.text("functions"); names != "" {
		w.printf("%50s<Function: %s>\n", "", names)
	}
	mark, values := "  ", strings.Repeat(" ", 39)
	if high, _ := rec["high"].(bool); high {
		mark = "##"
	}
	if code, _ := rec["has_code"].(bool); code {
		values = valueColumns(rec)
	}
	number := "?"
	if n := rec.number("line"); n > 0 {
		number = fmt.Sprint(n)
	}
	w.printf("%s\n", sourceLine(strings.TrimRight(fmt.Sprintf("%s %s %7s. %s", mark, values, number, rec.text("text")), " ")))
}

// valueColumns are the exclusive and inclusive values with percentages.
func valueColumns(rec record) string {
	unit, total := rec.text("unit"), rec.number("total")
	return fmt.Sprintf("%12s %6s %12s %6s", formatValue(rec.number("exclusive"), unit), percent(rec.number("exclusive"), total),
		formatValue(rec.number("inclusive"), unit), percent(rec.number("inclusive"), total))
}

// sourceText reads the text of a file that the store has none of; nil, with the
// reason printed, when it is not to be had or lacks lines that have values.
func (r *reporter) sourceText(w *page, file string, last int64) *source.Text {
	text, err := (&source.Finder{Rules: r.sources, NoRecorded: r.noRecorded}).Read(file)
	switch {
	case errors.Is(err, source.ErrNotFound):
		w.printf("no text of %s: not in the recording, not at its path (use --source-path FROM=TO)\n", file)
	case err != nil:
		w.printf("no text of %s: %v\n", file, err)
	case int64(len(text.Lines)) < last:
		w.printf("no text of %s: %s has %d lines, the program was compiled from line %d, too\n", file, text.Path, len(text.Lines), last)
	default:
		w.printf("text of %s\n", text.Path)
		return text
	}
	return nil
}

// lineKey is a source line in one experiment and metric.
type lineKey struct {
	experiment, metric, file string
	line                     int64
}

// inlinedAt reads what was inlined where, if that is to be shown (S10).
func (r *reporter) inlinedAt(ctx context.Context, s *selection) (map[lineKey][]record, error) {
	if !r.inline {
		return nil, nil
	}
	rows, err := r.read(ctx, "WITH "+s.pairs()+" SELECT v.* FROM source_inlined v JOIN chosen USING (experiment_id, metric) WHERE v.mode = '"+r.mode+"' ORDER BY v.path, v.inlined_file")
	at := map[lineKey][]record{}
	for _, rec := range rows {
		k := lineKey{rec.text("experiment_id"), rec.text("metric"), rec.text("file"), rec.number("line")}
		at[k] = append(at[k], rec)
	}
	return at, err
}

// runs cuts the rows where a column changes.
func runs(rows []record, column string) [][]record {
	var out [][]record
	for i, rec := range rows {
		if i == 0 || rec[column] != rows[i-1][column] {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], rec)
	}
	return out
}
