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

// A document shows the source of at most mostSources functions, which are searched among mostHot functions.
const mostSources, mostHot = 8, 40

// linesAround is the number of source lines around lines with values, and mostLines limits the lines of a function.
const linesAround, mostLines = 3, 300

// lineSum is the value of a source line of a function in one experiment.
type lineSum struct {
	line                 int64
	exclusive, inclusive int64
}

// sourceKey identifies the lines of a function in a file of an experiment.
type sourceKey struct {
	function   int32 // number of the function in the tree
	experiment string
	file       string
}

// addSource adds the source of the functions with the highest exclusive values, as far as the store has the text.
func (f *flameSink) addSource(ctx context.Context, p *html.Page, order []int32) error {
	hot := order[:min(len(order), mostHot)]
	hot = slices.DeleteFunc(slices.Clone(hot), func(n int32) bool { return f.functions[n].exclusive == 0 })
	sums, err := f.lineSums(ctx, hot)
	if err != nil {
		return err
	}
	versions, err := f.sourceVersions(ctx, sums)
	if err != nil {
		return err
	}
	section := html.Section{Title: "Source"}
	var found []*sourceVersion
	var missing []string
	for _, n := range hot {
		if best := highestVersion(versions[n]); best != nil && len(found) < mostSources {
			found = append(found, best)
		} else if best == nil && len(found) < mostSources && len(missing) < 5 {
			missing = append(missing, f.tree.Functions[n].Name)
		}
	}
	texts, err := f.sourceTexts(ctx, found)
	if err != nil {
		return err
	}
	for _, v := range found {
		section.Sources = append(section.Sources, f.source(v, texts[v.content]))
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

// lineSums returns the lines of functions that have values.
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

// sourceVersion is one version of a source file with lines of a function, and their values in the experiments that
// have this version.
type sourceVersion struct {
	function int32
	file     string
	content  int64 // hash of the text
	value    int64 // sum of the lines' exclusive values
	lines    map[int64]lineSum
}

// sourceVersions returns, for each function, the versions of its source whose text is in the store.
func (f *flameSink) sourceVersions(ctx context.Context, sums map[sourceKey][]lineSum) (map[int32][]*sourceVersion, error) {
	contents, err := f.sourceContents(ctx, sums)
	if err != nil {
		return nil, err
	}
	all := map[int32][]*sourceVersion{}
	for key, lines := range sums {
		content, ok := contents[[2]string{key.experiment, key.file}]
		if !ok {
			continue
		}
		at := slices.IndexFunc(all[key.function], func(v *sourceVersion) bool { return v.file == key.file && v.content == content })
		if at < 0 {
			at = len(all[key.function])
			all[key.function] = append(all[key.function], &sourceVersion{function: key.function, file: key.file, content: content, lines: map[int64]lineSum{}})
		}
		v := all[key.function][at]
		for _, l := range lines {
			of := v.lines[l.line]
			v.lines[l.line] = lineSum{l.line, of.exclusive + l.exclusive, of.inclusive + l.inclusive}
			v.value += l.exclusive
		}
	}
	return all, nil
}

// textVersions is a CTE with the hash of each list of source lines. Only the first row of a batch that refers to a list
// has the hash of its content; if that experiment is gone, the list is a version of its own.
const textVersions = `WITH versions AS MATERIALIZED (
  SELECT listed_in, listing, COALESCE(max(content), (hash(listed_in, listing) >> 1)::BIGINT) AS content FROM source_files GROUP BY listed_in, listing
)
`

// sourceContents returns the hashes of the texts of files, by experiment and file.
func (f *flameSink) sourceContents(ctx context.Context, sums map[sourceKey][]lineSum) (map[[2]string]int64, error) {
	var files []string
	for key := range sums {
		files = append(files, key.file)
	}
	contents := map[[2]string]int64{}
	if len(files) == 0 {
		return contents, nil
	}
	slices.Sort(files)
	var key [2]string
	var content int64
	err := scan(ctx, f.on, textVersions+"SELECT s.experiment_id, s.file, v.content FROM source_files s JOIN versions v ON v.listed_in = s.listed_in AND v.listing = s.listing WHERE s.file IN ("+queries.Quote(slices.Compact(files)...)+")", func() error {
		contents[key] = content
		return nil
	}, &key[0], &key[1], &content)
	return contents, err
}

// highestVersion returns the version with the highest value; nil if there is none.
func highestVersion(versions []*sourceVersion) *sourceVersion {
	if len(versions) == 0 {
		return nil
	}
	return slices.MinFunc(versions, func(a, b *sourceVersion) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.file, b.file), cmp.Compare(a.content, b.content))
	})
}

// sourceTexts returns the lines of the texts of versions, by the hash of the text.
func (f *flameSink) sourceTexts(ctx context.Context, versions []*sourceVersion) (map[int64][]string, error) {
	texts := map[int64][]string{}
	var contents []string
	for _, v := range versions {
		contents = append(contents, fmt.Sprint(v.content))
	}
	if len(contents) == 0 {
		return texts, nil
	}
	var content int64
	var text string
	err := scan(ctx, f.on, textVersions+`, listed AS MATERIALIZED (
  SELECT content, min(listed_in) AS listed_in, arg_min(listing, listed_in) AS listing FROM versions WHERE content IN (`+strings.Join(contents, ", ")+`) GROUP BY content
)
SELECT f.content, l.text FROM listed f JOIN source_lines l ON l.listed_in = f.listed_in AND l.listing = f.listing ORDER BY f.content, l.line`, func() error {
		texts[content] = append(texts[content], text)
		return nil
	}, &content, &text)
	return texts, err
}

// source returns the source of a function in the version with the highest value.
func (f *flameSink) source(v *sourceVersion, text []string) html.Source {
	unit, self := f.metrics[0].unit, f.functions[v.function].exclusive
	s := html.Source{Title: f.tree.Functions[v.function].Name + ", " + v.file, Value: "Self"}
	if v.value < self {
		s.Notes = append(s.Notes, fmt.Sprintf("These lines have %s of the %s that the function has itself; the rest is in other files, in other versions of the text, or has no line.", html.Amount(float64(v.value), unit), html.Amount(float64(self), unit)))
	}
	s.Lines = f.sourceLines(v.lines, text, self)
	return s
}

// sourceLines returns the lines with values and the lines around them.
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
