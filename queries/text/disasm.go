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

// disasm prints the instructions of functions with their values. Each source line precedes the
// instructions that were made from it.
func (r *Report) disasm(ctx context.Context, q *report.Question, rows []queries.Record) error {
	texts, err := r.sourceTexts(ctx, q, rows)
	if err != nil {
		return err
	}
	return r.sections(q, rows, func(w *terminal.Page, group []queries.Record) (leftOut, error) {
		shown, left := r.limited(group, "instructions")
		for j, function := range split(shown, "function_id") {
			if j > 0 {
				w.Printf("\n")
			}
			w.Printf("Function %s, load object %s\n", function[0].Text("label"), function[0].Text("load_object"))
			w.Printf("   %12s %6s %12s %6s\n", "Excl."+unitOf(function), "%", "Incl."+unitOf(function), "%")
			instructions(w, function, texts)
		}
		return left, nil
	})
}

// instructions prints the instructions of a function. Dots stand for instructions that are left
// out.
func instructions(w *terminal.Page, rows []queries.Record, texts map[report.Line]string) {
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
			if _, ok := texts[lineOf(rec)]; !ok {
				without = ", no text: use --source-path FROM=TO"
			}
			w.Printf("%42s<File: %s%s>\n", "", f, without)
		}
		if f, n := rec.Text("file"), rec.Number("line"); f != file || n != line {
			if file, line = f, n; n > 0 {
				text := fmt.Sprintf("%42s%7d. %s", "", n, texts[lineOf(rec)])
				w.Printf("%s\n", terminal.SourceLine(strings.TrimRight(text, " ")))
			}
		}
		number, target := "", ""
		if n := rec.Number("line"); n > 0 {
			number = fmt.Sprintf("[%d]", n)
		}
		if t := rec.Text("target_name"); t != "" {
			target = " <" + t + ">"
		}
		w.Linef(styleOf(rec), "%s %s %6s %8x:  %s%s", mark(rec), valueColumns(rec), number, uint64(rec.Number("address")), rec.Text("text"), target)
	}
}

// lineOf returns the source line of a row, without the metric.
func lineOf(rec queries.Record) report.Line {
	return report.Line{Experiment: rec.Text("experiment_id"), File: rec.Text("file"), Number: rec.Number("line")}
}

// sourceTexts returns the texts of the instructions' source lines. If the store lacks a file, it
// reads the file itself.
func (r *Report) sourceTexts(ctx context.Context, q *report.Question, rows []queries.Record) (map[report.Line]string, error) {
	wanted := map[report.Line]bool{}
	highest := map[report.Line]int64{} // by file, with line 0
	var files []string
	for _, rec := range rows {
		k := lineOf(rec)
		if k.File == "" || k.Number == 0 {
			continue
		}
		wanted[k] = true
		whole := report.Line{Experiment: k.Experiment, File: k.File}
		highest[whole] = max(highest[whole], k.Number)
		if !slices.Contains(files, k.File) {
			files = append(files, k.File)
		}
	}
	texts := map[report.Line]string{}
	if files == nil {
		return texts, nil
	}
	found, err := q.SourceLines(ctx, files)
	if err != nil {
		return nil, err
	}
	for _, rec := range found {
		k := lineOf(rec)
		delete(highest, report.Line{Experiment: k.Experiment, File: k.File})
		if wanted[k] {
			texts[k] = rec.Text("text")
		}
	}
	for k, last := range highest {
		if _, lines, err := r.ReadSource(k.File); err == nil && int64(len(lines)) >= last {
			for i, line := range lines[:last] {
				k.Number = int64(i + 1)
				texts[k] = line
			}
		}
	}
	return texts, nil
}
