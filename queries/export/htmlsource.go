package export

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/queries/html"
)

// mostSources is the number of functions whose source a document shows, searched among mostHot functions.
const mostSources, mostHot = 8, 40

// Lines of source text around lines with values, and the most lines of a function.
const linesAround, mostLines = 3, 300

// lineSum is what a source line of a function has in one experiment.
type lineSum struct {
	line                 int64
	exclusive, inclusive int64
}

// sourceKey identifies the lines of a function in a file of an experiment.
type sourceKey struct {
	function   int32 // number in the tree
	experiment string
	file       string
}

// addSource adds the source of the functions with the highest exclusive values, as far as the store has the text.
func (f *flameSink) addSource(ctx context.Context, p *html.Page, order []int32) error {
	hot := order[:min(len(order), mostHot)]
	sums, err := f.lineSums(ctx, hot)
	if err != nil {
		return err
	}
	texts, err := f.sourceTexts(ctx, sums)
	if err != nil {
		return err
	}
	section := html.Section{Title: "Source"}
	var missing []string
	for _, n := range hot {
		if f.functions[n].exclusive == 0 || len(section.Sources) == mostSources {
			break
		}
		if s := f.source(n, sums, texts); s != nil {
			section.Sources = append(section.Sources, *s)
		} else if len(missing) < 5 {
			missing = append(missing, f.tree.Functions[n].Name)
		}
	}
	switch {
	case len(section.Sources) == 0:
		section.Notes = []string{"The store has no source text of the functions with the highest values (stackmill ingest --source-path says where it is)."}
	case len(missing) > 0:
		section.Notes = []string{"The store has no source text of " + strings.Join(missing, "; ") + "."}
	}
	p.Sections = slices.Insert(p.Sections, min(2, len(p.Sections)), section)
	return nil
}

// lineSums returns the lines with values of functions.
func (f *flameSink) lineSums(ctx context.Context, hot []int32) (map[sourceKey][]lineSum, error) {
	view := "line_metrics"
	if f.inline {
		view = "inline_line_metrics"
	}
	var names []string
	numbers := map[[3]string]int32{}
	for _, n := range hot {
		of := f.tree.Functions[n]
		names = append(names, of.Name)
		numbers[[3]string{of.Name, of.LoadObject, of.Module}] = n
	}
	sums := map[sourceKey][]lineSum{}
	if len(names) == 0 {
		return sums, nil
	}
	var id, name, object, module, file string
	var l lineSum
	err := scan(ctx, f.on, `SELECT v.experiment_id, v."function", o.short_path, COALESCE(m.short_path, ''), v.file, v.line, sum(v.exclusive)::BIGINT, sum(v.inclusive)::BIGINT
FROM (FROM `+view+` WHERE mode = `+queries.Quote(f.mode)+" AND metric = "+queries.Quote(f.metrics[0].name)+` AND "function" IN (`+queries.Quote(names...)+`) AND file <> '' AND line > 0) v
JOIN functions f ON f.experiment_id = v.experiment_id AND f.function_id = v.function_id
JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id
LEFT JOIN modules m ON m.experiment_id = f.experiment_id AND m.module_id = f.module_id
GROUP BY ALL ORDER BY ALL`, func() error {
		if n, ok := numbers[[3]string{name, object, module}]; ok {
			key := sourceKey{n, id, file}
			sums[key] = append(sums[key], l)
		}
		return nil
	}, &id, &name, &object, &module, &file, &l.line, &l.exclusive, &l.inclusive)
	return sums, err
}

// fileKey identifies a source file of an experiment.
type fileKey struct{ experiment, file string }

// sourceTexts returns the lines of the files with values. Equal files share them.
func (f *flameSink) sourceTexts(ctx context.Context, sums map[sourceKey][]lineSum) (map[fileKey][]string, error) {
	wanted := map[string]bool{}
	for key := range sums {
		wanted[key.file] = true
	}
	texts := map[fileKey][]string{}
	if len(wanted) == 0 {
		return texts, nil
	}
	var files []string
	for name := range wanted {
		files = append(files, name)
	}
	slices.Sort(files)
	var key fileKey
	var text string
	known := map[string][]string{}
	err := scan(ctx, f.on, `SELECT experiment_id, file, string_agg(text, chr(10) ORDER BY line) FROM source_lines_wide WHERE file IN (`+queries.Quote(files...)+`)
GROUP BY ALL ORDER BY ALL`, func() error {
		if known[text] == nil {
			known[text] = strings.Split(text, "\n")
		}
		texts[key] = known[text]
		return nil
	}, &key.experiment, &key.file, &text)
	return texts, err
}

// source returns the source of a function; nil if its text is not known. If the experiments have different texts, it
// shows the one with the highest value, and sums the experiments that have it.
func (f *flameSink) source(n int32, sums map[sourceKey][]lineSum, texts map[fileKey][]string) *html.Source {
	type variant struct {
		file  string
		text  []string
		value int64
		of    []sourceKey
	}
	var variants []variant
	for key, lines := range sums {
		if key.function != n {
			continue
		}
		var value int64
		for _, l := range lines {
			value += l.exclusive
		}
		text := texts[fileKey{key.experiment, key.file}]
		at := slices.IndexFunc(variants, func(v variant) bool { return v.file == key.file && slices.Equal(v.text, text) })
		if at < 0 {
			at = len(variants)
			variants = append(variants, variant{file: key.file, text: text})
		}
		variants[at].value += value
		variants[at].of = append(variants[at].of, key)
	}
	variants = slices.DeleteFunc(variants, func(v variant) bool { return v.text == nil })
	if len(variants) == 0 {
		return nil
	}
	slices.SortFunc(variants, func(a, b variant) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.file, b.file), slices.Compare(a.text, b.text))
	})
	best := variants[0]
	values := map[int64]lineSum{}
	for _, key := range best.of {
		for _, l := range sums[key] {
			v := values[l.line]
			values[l.line] = lineSum{l.line, v.exclusive + l.exclusive, v.inclusive + l.inclusive}
		}
	}
	name := f.tree.Functions[n].Name
	unit, self := f.metrics[0].unit, f.functions[n].exclusive
	s := &html.Source{Title: name + ", " + best.file, Value: "Self"}
	if best.value < self {
		s.Notes = append(s.Notes, fmt.Sprintf("These lines have %s of the %s that the function has itself; the rest is in other files, in other versions of the text, or has no line.", html.Amount(float64(best.value), unit), html.Amount(float64(self), unit)))
	}
	s.Lines = f.sourceLines(values, best.text, self)
	return s
}

// sourceLines returns the lines with values and those around them.
func (f *flameSink) sourceLines(values map[int64]lineSum, text []string, self int64) (lines []html.SourceLine) {
	unit := f.metrics[0].unit
	near := map[int64]bool{}
	var highest int64
	var valued []lineSum
	for _, v := range values {
		highest = max(highest, v.exclusive)
		valued = append(valued, v)
	}
	slices.SortFunc(valued, func(a, b lineSum) int {
		return cmp.Or(cmp.Compare(b.exclusive, a.exclusive), cmp.Compare(b.inclusive, a.inclusive), cmp.Compare(a.line, b.line))
	})
	for _, v := range valued {
		for n := max(1, v.line-linesAround); n <= min(v.line+linesAround, int64(len(text))) && len(near) < mostLines; n++ {
			near[n] = true
		}
	}
	var last int64
	for n := int64(1); n <= int64(len(text)); n++ {
		if !near[n] {
			continue
		}
		if left := n - last - 1; left > 0 && last > 0 {
			lines = append(lines, html.SourceLine{Text: "… " + queries.Count(int(left), "line")})
		}
		last = n
		l := html.SourceLine{Number: n, Text: text[n-1]}
		if v := values[n].exclusive; v > 0 {
			l.Value, l.Exact, l.Share = html.Amount(float64(v), unit), html.Exact(v, unit), float64(v)/math.Max(1, float64(self))
			l.Heat = int(math.Ceil(5 * float64(v) / float64(highest)))
		}
		lines = append(lines, l)
	}
	return lines
}
