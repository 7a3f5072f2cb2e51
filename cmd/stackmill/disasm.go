package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stackmill/stages/symbolize/source"
)

// disasmRows selects the functions asked for, or else the one with most of the
// value of those whose instructions are there.
func (r *reporter) disasmRows(s *selection) string {
	if s.functions != nil {
		return isOneOf(s.functions)
	}
	return `(v.experiment_id, v.metric, v.function_id) IN (
  SELECT (f.experiment_id, f.metric, f.function_id) FROM function_metrics f
  SEMI JOIN (
    SELECT DISTINCT i.experiment_id, unnest([g.function_id, g.body_of]) AS function_id
    FROM instructions i JOIN functions g USING (experiment_id, function_id)
  ) c ON c.experiment_id = f.experiment_id AND c.function_id = f.function_id
  WHERE f.mode = '` + r.mode + `'
  QUALIFY row_number() OVER (PARTITION BY f.experiment_id, f.metric ORDER BY f.exclusive DESC, f.inclusive DESC, f.function, f.function_id) = 1)`
}

// disasm prints the instructions of functions with their values, below the
// source lines that they were made from.
func (r *reporter) disasm(ctx context.Context, s *selection, rows []record) error {
	w := r.page()
	texts, err := r.sourceTexts(ctx, rows)
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
		for j, function := range runs(group, "function_id") {
			if j > 0 {
				w.printf("\n")
			}
			w.printf("Function %s, load object %s\n", function[0].text("label"), function[0].text("load_object"))
			w.printf("   %12s %6s %12s %6s\n", "Excl."+unitOf(function), "%", "Incl."+unitOf(function), "%")
			instructions(w, function, texts)
		}
	}
	return w.flush()
}

// instructions prints those of a function; where others lie between, dots.
func instructions(w *page, rows []record, texts map[textKey]string) {
	var file string
	var line, end int64
	for i, rec := range rows {
		if i > 0 && rec.number("offset") != end {
			w.printf("%53s...\n", "")
			line = 0
		}
		end = rec.number("offset") + rec.number("size")
		if f := rec.text("file"); f != file && f != "" {
			without := ""
			if _, ok := texts[textKey{rec.text("experiment_id"), f, rec.number("line")}]; !ok {
				without = ", no text: use --source-path FROM=TO"
			}
			w.printf("%42s<File: %s%s>\n", "", f, without)
		}
		if f, n := rec.text("file"), rec.number("line"); f != file || n != line {
			if file, line = f, n; n > 0 {
				text := fmt.Sprintf("%42s%7d. %s", "", n, texts[textKey{rec.text("experiment_id"), f, n}])
				w.printf("%s\n", sourceLine(strings.TrimRight(text, " ")))
			}
		}
		mark := "  "
		if high, _ := rec["high"].(bool); high {
			mark = "##"
		}
		target := ""
		if t := rec.text("target_name"); t != "" {
			target = " <" + t + ">"
		}
		w.printf("%s %s %6s %8x:  %s%s\n", mark, valueColumns(rec), lineOf(rec), uint64(rec.number("address")), rec.text("text"), target)
	}
}

// lineOf is the line's number in brackets, when it is known.
func lineOf(rec record) string {
	if n := rec.number("line"); n > 0 {
		return fmt.Sprintf("[%d]", n)
	}
	return ""
}

// textKey is a line of a source file as one experiment names it.
type textKey struct {
	experiment, file string
	line             int64
}

// sourceTexts returns the text of the lines of the instructions, from the store
// or, of files that it has none of, from where they are now.
func (r *reporter) sourceTexts(ctx context.Context, rows []record) (map[textKey]string, error) {
	wanted := map[textKey]bool{}
	highest := map[textKey]int64{} // by file, with line 0
	var files []string
	for _, rec := range rows {
		k := textKey{rec.text("experiment_id"), rec.text("file"), rec.number("line")}
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
	found, err := r.read(ctx, "SELECT experiment_id, file, line, text FROM source_lines WHERE file IN ("+list(files)+")")
	if err != nil {
		return nil, err
	}
	for _, rec := range found {
		k := textKey{rec.text("experiment_id"), rec.text("file"), rec.number("line")}
		delete(highest, textKey{k.experiment, k.file, 0})
		if wanted[k] {
			texts[k] = rec.text("text")
		}
	}
	finder := source.Finder{Rules: r.sources, NoRecorded: r.noRecorded}
	for k, last := range highest {
		if text, err := finder.Read(k.file); err == nil && int64(len(text.Lines)) >= last {
			for i, line := range text.Lines[:last] {
				texts[textKey{k.experiment, k.file, int64(i + 1)}] = line
			}
		}
	}
	return texts, nil
}
