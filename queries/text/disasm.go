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

// disasm prints the instructions of functions with their values, below the
// source lines that they were made from.
func (r *Report) disasm(ctx context.Context, q *report.Question, rows []queries.Record) error {
	w := r.Page()
	texts, err := r.sourceTexts(ctx, q, rows)
	if err != nil {
		return err
	}
	for i, group := range groups(rows) {
		if i > 0 {
			w.Printf("\n")
		}
		r.groupTitle(w, q, group)
		if r.Limit > 0 {
			group = group[:min(r.Limit, len(group))]
		}
		for j, function := range split(group, "function_id") {
			if j > 0 {
				w.Printf("\n")
			}
			w.Printf("Function %s, load object %s\n", function[0].Text("label"), function[0].Text("load_object"))
			w.Printf("   %12s %6s %12s %6s\n", "Excl."+unitOf(function), "%", "Incl."+unitOf(function), "%")
			instructions(w, function, texts)
		}
	}
	return w.Flush()
}

// instructions prints the instructions of a function, with dots where some are left out.
func instructions(w *terminal.Page, rows []queries.Record, texts map[textKey]string) {
	var file string
	var line, end int64
	for i, rec := range rows {
		if i > 0 && rec.Number("code_offset") != end {
			w.Printf("%53s...\n", "")
			line = 0
		}
		end = rec.Number("code_offset") + rec.Number("size")
		if f := rec.Text("file"); f != file && f != "" {
			without := ""
			if _, ok := texts[textKey{rec.Text("experiment_id"), f, rec.Number("line")}]; !ok {
				without = ", no text: use --source-path FROM=TO"
			}
			w.Printf("%42s<File: %s%s>\n", "", f, without)
		}
		if f, n := rec.Text("file"), rec.Number("line"); f != file || n != line {
			if file, line = f, n; n > 0 {
				text := fmt.Sprintf("%42s%7d. %s", "", n, texts[textKey{rec.Text("experiment_id"), f, n}])
				w.Printf("%s\n", terminal.SourceLine(strings.TrimRight(text, " ")))
			}
		}
		mark := "  "
		if high, _ := rec["high"].(bool); high {
			mark = "##"
		}
		target := ""
		if t := rec.Text("target_name"); t != "" {
			target = " <" + t + ">"
		}
		w.Printf("%s %s %6s %8x:  %s%s\n", mark, valueColumns(rec), lineOf(rec), uint64(rec.Number("address")), rec.Text("text"), target)
	}
}

// lineOf is the line's number in brackets, if it is known.
func lineOf(rec queries.Record) string {
	if n := rec.Number("line"); n > 0 {
		return fmt.Sprintf("[%d]", n)
	}
	return ""
}

// textKey is a line of a source file as one experiment names it.
type textKey struct {
	experiment, file string
	line             int64
}

// sourceTexts returns the text of the instructions' lines: from the store or, for files
// that it does not have, from where they are now.
func (r *Report) sourceTexts(ctx context.Context, q *report.Question, rows []queries.Record) (map[textKey]string, error) {
	wanted := map[textKey]bool{}
	highest := map[textKey]int64{} // by file, with line 0
	var files []string
	for _, rec := range rows {
		k := textKey{rec.Text("experiment_id"), rec.Text("file"), rec.Number("line")}
		if k.file == "" || k.line == 0 {
			continue
		}
		wanted[k] = true
		whole := textKey{k.experiment, k.file, 0}
		highest[whole] = max(highest[whole], k.line)
		if !slices.Contains(files, k.file) {
			files = append(files, k.file)
		}
	}
	texts := map[textKey]string{}
	if files == nil {
		return texts, nil
	}
	found, err := q.SourceLines(ctx, files)
	if err != nil {
		return nil, err
	}
	for _, rec := range found {
		k := textKey{rec.Text("experiment_id"), rec.Text("file"), rec.Number("line")}
		delete(highest, textKey{k.experiment, k.file, 0})
		if wanted[k] {
			texts[k] = rec.Text("text")
		}
	}
	for k, last := range highest {
		if _, lines, err := r.ReadSource(k.file); err == nil && int64(len(lines)) >= last {
			for i, line := range lines[:last] {
				texts[textKey{k.experiment, k.file, int64(i + 1)}] = line
			}
		}
	}
	return texts, nil
}
