package export

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"stackmill/queries"
	"stackmill/queries/html"
)

// mostFunctions is the number of functions in the table of a document.
const mostFunctions = 500

// writeHTML writes a document with the flame graph, the functions and the source of the functions with the highest
// values.
func writeHTML(ctx context.Context, s *selection, w io.Writer) error {
	f := newFlameSink(s)
	if err := s.send(ctx, f); err != nil {
		return err
	}
	p := &html.Page{Title: s.title, Warnings: s.leftOut, Made: "Written by stackmill export."}
	unit := s.metrics[0].unit
	p.Lead = fmt.Sprintf("%s of %s", html.Amount(float64(f.tree.Total()), unit), s.metrics[0].name)
	order := f.highest()
	if len(order) > 0 && f.functions[order[0]].exclusive > 0 {
		top := f.functions[order[0]]
		p.Lead += fmt.Sprintf("; the highest function is %s with %s itself", f.tree.Functions[order[0]].Name, html.Share(float64(top.exclusive), f.whole()))
	}
	p.Lead += "."
	p.Sections = []html.Section{{Title: "Flame graph", Flame: &html.FlameGraph{Tree: f.tree, Head: f.head()}}, f.functionSection(order)}
	if s.rows == nil {
		for _, add := range []func(context.Context, *html.Page) error{f.addFacts, f.addProblems, f.addUnknown} {
			if err := add(ctx, p); err != nil {
				return err
			}
		}
		if err := f.addSource(ctx, p, order); err != nil {
			return err
		}
	}
	return html.Write(w, p)
}

// functionSection returns the table of functions.
func (f *flameSink) functionSection(order []int32) html.Section {
	unit := f.metrics[0].unit
	t := &html.Table{Total: len(order) + 1, All: "stackmill report functions has all",
		Columns: []html.Column{{Name: "Self", Numeric: true}, {Name: "%", Numeric: true}, {Name: "Total", Numeric: true, Minor: true}, {Name: "%", Numeric: true, Minor: true}, {Name: "Function", Long: true}, {Name: "Load object", Minor: true}}}
	values := func(v int64) []html.Cell {
		share := float64(v) / f.whole()
		return []html.Cell{{Text: html.Amount(float64(v), unit), Exact: html.Exact(v, unit), Share: share}, {Text: html.Share(float64(v), f.whole())}}
	}
	total := f.tree.Total()
	t.Rows = append(t.Rows, html.Row{Total: true, Cells: append(append(values(total), values(total)...), html.Cell{Text: "<Total>"}, html.Cell{})})
	for _, n := range order[:min(len(order), mostFunctions)] {
		name := f.tree.Functions[n]
		cells := append(values(f.functions[n].exclusive), values(f.functions[n].inclusive)...)
		t.Rows = append(t.Rows, html.Row{Cells: append(cells, html.Cell{Text: name.Name, Function: true}, html.Cell{Text: name.LoadObject})})
	}
	s := html.Section{Title: "Functions", Table: t, Notes: []string{"Self: the function itself. Total: with everything that it calls; a function that calls itself counts once."}}
	if left := order[min(len(order), mostFunctions):]; len(left) > 0 {
		var rest int64
		for _, n := range left {
			rest += f.functions[n].exclusive
		}
		s.Notes = append(s.Notes, fmt.Sprintf("The other %s have %s (%s) themselves.", queries.Count(len(left), "function"), html.Amount(float64(rest), unit), html.Share(float64(rest), f.whole())))
	}
	return s
}

// addFacts adds facts about the recording, and about the part of it that is shown.
func (f *flameSink) addFacts(ctx context.Context, p *html.Page) error {
	add := func(name, value string) {
		if value != "" {
			p.Facts = append(p.Facts, html.Fact{Name: name, Value: value})
		}
	}
	if f.multiple {
		add("Experiments", fmt.Sprintf("%d, summed: %s", len(f.experiments), f.few(func(e *experiment) string { return e.name })))
	} else {
		add("Experiment", f.title)
	}
	add("Command", f.few(func(e *experiment) string { return e.command }))
	add("Host", f.few(func(e *experiment) string { return e.host }))
	started, err := f.started(ctx)
	if err != nil {
		return err
	}
	add("Started", started)
	var ran, samples int64
	for _, e := range f.experiments {
		ran, samples = ran+e.duration, samples+e.samples
	}
	if ran > 0 {
		add("Duration", html.Amount(float64(ran), "ns"))
	}
	add("Labels", f.few(func(e *experiment) string {
		var all []string
		for _, l := range e.labels {
			all = append(all, l[0]+"="+l[1])
		}
		return strings.Join(all, ", ")
	}))
	var title string
	if err := scan(ctx, f.on, "SELECT title FROM metrics WHERE metric = "+queries.Quote(f.metrics[0].name)+" AND title <> '' LIMIT 1", func() error { return nil }, &title); err != nil {
		return err
	}
	metric := f.metrics[0].name
	if title != "" && title != metric {
		metric += " (" + title + ")"
	}
	add("Metric", metric)
	mode := f.mode
	if f.inline {
		mode += ", inlined functions as frames"
	}
	add("Mode", mode)
	add("Samples", fmt.Sprint(samples))
	return f.addFilter(ctx, add)
}

// addFilter adds the filter and how much it selects.
func (f *flameSink) addFilter(ctx context.Context, add func(name, value string)) error {
	db, ok := f.on.(*queries.DB)
	if !ok || !db.IsFiltered() {
		return nil
	}
	for _, functions := range db.HiddenFunctions() {
		add("Hidden", functions)
	}
	if len(f.filter) == 0 {
		return nil
	}
	add("Filter", strings.Join(f.filter, " and "))
	shares, err := db.Shares(ctx)
	if err != nil {
		return err
	}
	var value, whole int64
	for _, s := range shares {
		if s.Metric == f.metrics[0].name {
			value, whole = value+s.Value, whole+s.Whole
		}
	}
	unit := f.metrics[0].unit
	add("Selected", fmt.Sprintf("%s of %s; percentages are of the selection", html.Share(float64(value), float64(whole)), html.Amount(float64(whole), unit)))
	return nil
}

// few returns the distinct values of a property of the experiments, at most three.
func (f *flameSink) few(of func(*experiment) string) string {
	var all []string
	seen := map[string]bool{}
	for _, e := range f.experiments {
		if v := of(e); v != "" && !seen[v] {
			seen[v] = true
			all = append(all, v)
		}
	}
	text := strings.Join(all[:min(len(all), 3)], "; ")
	if len(all) > 3 {
		text += fmt.Sprintf(" and %d more", len(all)-3)
	}
	return text
}

// started returns when the experiments started, as far as this is known, and the source of these times.
func (f *flameSink) started(ctx context.Context) (string, error) {
	var times []time.Time
	for _, e := range f.experiments {
		if !e.started.IsZero() {
			times = append(times, e.started)
		}
	}
	if len(times) == 0 {
		return "", nil
	}
	slices.SortFunc(times, time.Time.Compare)
	const layout = "2006-01-02 15:04:05 UTC"
	text := times[0].UTC().Format(layout)
	if last := times[len(times)-1].UTC().Format(layout); last != text {
		text += " to " + last
	}
	var ofFiles int
	err := scan(ctx, f.on, "SELECT count(*) FROM experiments WHERE started_from = 'file'", func() error { return nil }, &ofFiles)
	if ofFiles > 0 {
		text += " (by the time of the file)"
	}
	return text, err
}

// mostProblems is the number of kinds of problems that a document lists.
const mostProblems = 10

// addProblems adds a warning for each kind of problem that the recordings have.
func (f *flameSink) addProblems(ctx context.Context, p *html.Page) error {
	var severity, message string
	var experiments, kinds int
	err := scan(ctx, f.on, `SELECT severity, arg_max(message, count) AS message, count(DISTINCT experiment_id) FROM problems WHERE severity IN ('error', 'warning')
GROUP BY severity, reason ORDER BY severity, 3 DESC, message`, func() error {
		if kinds++; kinds > mostProblems {
			return nil
		}
		text := message
		if severity == "error" {
			text = "Data were lost or are unreadable: " + text
		}
		if f.multiple {
			text += fmt.Sprintf(" (in %s)", queries.Count(experiments, "experiment"))
		}
		p.Warnings = append(p.Warnings, text)
		return nil
	}, &severity, &message, &experiments)
	if kinds > mostProblems {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%d more kinds of problems (stackmill problems lists them)", kinds-mostProblems))
	}
	return err
}

// addUnknown adds the reasons why functions are unknown, with their values.
func (f *flameSink) addUnknown(ctx context.Context, p *html.Page) error {
	unit := f.metrics[0].unit
	t := &html.Table{Columns: []html.Column{{Name: "Value", Numeric: true}, {Name: "%", Numeric: true}, {Name: "Reason", Long: true}, {Name: "Load object"}}}
	var reason, object string
	var value, sum int64
	err := scan(ctx, f.on, `SELECT reason, load_object, sum(value)::BIGINT AS value FROM unattributed
WHERE subject = 'function' AND metric = `+queries.Quote(f.metrics[0].name)+" AND mode = "+queries.Quote(f.mode)+" GROUP BY ALL HAVING sum(value) <> 0 ORDER BY value DESC, reason, load_object", func() error {
		sum += value
		t.Rows = append(t.Rows, html.Row{Cells: []html.Cell{{Text: html.Amount(float64(value), unit), Exact: html.Exact(value, unit), Share: float64(value) / f.whole()}, {Text: html.Share(float64(value), f.whole())}, {Text: reason}, {Text: object}}})
		return nil
	}, &reason, &object, &value)
	note := "The function of every sample is known."
	if len(t.Rows) > 0 {
		note = fmt.Sprintf("The function of %s (%s) is not known.", html.Share(float64(sum), f.whole()), html.Amount(float64(sum), unit))
	} else {
		t = nil
	}
	p.Sections = append(p.Sections, html.Section{Title: "Unknown", Notes: []string{note}, Table: t})
	return err
}
