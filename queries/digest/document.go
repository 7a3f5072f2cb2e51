package digest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"stackmill/queries/compare"
	"stackmill/queries/html"
	"stackmill/queries/rank"
)

// Document returns the digest as an HTML document: a section for each finding that is reported in
// full, a table of the others, and the changes that many series have in common.
func (r *Result) Document() *html.Page {
	p := &html.Page{
		Title: "What changed since " + r.SinceNight, Lead: r.Sentence(), Warnings: r.Warnings,
		Facts: []html.Fact{
			{Name: "experiments", Value: fmt.Sprint(r.Experiments)}, {Name: "nights", Value: r.First + " to " + r.Last + r.OlderNights()}, {Name: "mode", Value: r.Mode},
			{Name: "series as usual", Value: fmt.Sprint(r.Quiet)}, {Name: "series with too few nights", Value: fmt.Sprint(r.Short)},
			{Name: "noise from night to night", Value: fmt.Sprintf("%s in the median, at most %s", html.Share(r.Noise[0], 1), html.Share(r.Noise[1], 1))},
		},
	}
	var others []*Finding
	for _, f := range slices.Concat(r.Sure, r.Maybe) {
		if f.Details == nil {
			others = append(others, f)
			continue
		}
		p.Sections = append(p.Sections, f.section())
	}
	if others != nil {
		t := &html.Table{Columns: changeColumns("Program")}
		for _, f := range others {
			t.Rows = append(t.Rows, f.changeRow(&f.Changes[0], f.Program+": "+f.Changes[0].Name))
		}
		p.Sections = append(p.Sections, html.Section{Title: "Further changes", Table: t})
	}
	if notes := r.commonNotes(); notes != nil {
		p.Sections = append(p.Sections, html.Section{Title: "Common to many programs", Notes: notes})
	}
	return p
}

// AndPerhaps says in brackets how many more series may have changed; it is empty if there are none.
func (t *Together) AndPerhaps() string {
	if t.Perhaps == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d more may have)", t.Perhaps)
}

// OlderNights says in brackets how many older nights are not read; it is empty if there are none.
func (r *Result) OlderNights() string {
	if r.Older == 0 {
		return ""
	}
	return fmt.Sprintf(" (older nights: %d, which --nights limits)", r.Older)
}

// Sentence says in one sentence what changed.
func (r *Result) Sentence() string {
	text := "Nothing changed for sure"
	switch n := len(r.Sure); {
	case n == 1:
		text = "1 program changed"
	case n > 1:
		text = fmt.Sprintf("%d programs changed", n)
	}
	if n := len(r.Maybe); n > 0 {
		text += fmt.Sprintf(", %d may have", n)
	}
	if r.SinceNight == "" {
		return text + ": no experiment can be followed."
	}
	return text + " since " + r.SinceNight + "."
}

// changeColumns returns the columns of tables of changes.
func changeColumns(of string) []html.Column {
	return []html.Column{
		{Name: "Change", Numeric: true}, {Name: "95 % interval", Numeric: true, Equal: rank.SmallestChange, Minor: true}, {Name: "Of the whole", Numeric: true, Minor: true},
		{Name: "Verdict"}, {Name: "Since", Numeric: true, Minor: true}, {Name: of, Long: true},
	}
}

// changeRow returns the row of a change in a table with these columns.
func (f *Finding) changeRow(c *Change, name string) html.Row {
	change := html.Cell{Text: "new"}
	interval := html.Cell{}
	if !math.IsInf(c.Ratio, 0) {
		change = html.Cell{Text: percent(c.Ratio - 1)}
		interval = html.Cell{Interval: &html.Interval{Low: c.Low - 1, Change: c.Ratio - 1, High: c.High - 1}}
	}
	verdict := c.Kind()
	if c.State == rank.Maybe {
		verdict = "maybe " + verdict
	}
	return html.Row{Total: c.Key == 0, Cells: []html.Cell{
		change, interval, {Text: percent(c.Impact)}, {Text: verdict, Verdict: html.Verdict(c.Kind())}, {Text: f.Nights[c.From].Name}, {Text: name},
	}}
}

func percent(v float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f\u202f%%", 100*v), "-", "\u2212", 1)
}

// section returns the part of the document about one finding.
func (f *Finding) section() html.Section {
	c := &f.Changes[0]
	s := html.Section{Title: f.Program + ": " + f.Headline(), Table: &html.Table{Columns: changeColumns("Function")}}
	for i := range f.Changes {
		s.Table.Rows = append(s.Table.Rows, f.changeRow(&f.Changes[i], f.Changes[i].Name))
	}
	note := func(format string, args ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, args...)) }
	note("Series %s, metric %s; last good night %s; from night to night, the program varies by %s.", f.Series.Name, f.Metric, f.Nights[c.From-1].Name, html.Share(f.Noise, 1))
	for _, carrier := range f.Carriers {
		note("Carried by the %s %s: %s of the whole.", carrier.By, carrier.Name, percent(carrier.Change))
	}
	for _, d := range f.Differences {
		note("Differs: %s: %s → %s.", d.What, compare.Few(d.Before), compare.Few(d.After))
	}
	for _, d := range f.Environment {
		if d.Unfair {
			note("Perhaps unfair: %s: %s → %s.", d.What, compare.Few(d.Base), compare.Few(d.Test))
		}
	}
	if f.MoreNights > 0 {
		note("Nights like the newest that would make it sure: %d (runs: %d).", f.MoreNights, f.MoreRuns)
	}
	if len(f.Between) > 0 {
		note("Builds between the nights, in bisection order: %s.", strings.Join(f.Between, ", "))
	}
	s.Text = strings.Join(f.Commands, "\n")
	return s
}

// Headline describes the change of the program as a whole, or of the function that changed.
func (f *Finding) Headline() string {
	for i := range f.Changes {
		switch t := &f.Changes[i]; {
		case t.Key != 0:
		case t.Before == 0:
			return t.Kind() + ", 0 before"
		default:
			return fmt.Sprintf("%s, %+.1f%% (%+.1f%% to %+.1f%%)", t.Kind(), 100*(t.Ratio-1), 100*(t.Low-1), 100*(t.High-1))
		}
	}
	return fmt.Sprintf("%s in one function, %+.1f %% of the whole", f.Changes[0].Kind(), 100*f.Changes[0].Impact)
}

// commonNotes returns sentences about the changes that many series have in common.
func (r *Result) commonNotes() (notes []string) {
	for _, c := range r.Common {
		host := ""
		if c.Host != "" {
			host = " on " + c.Host
		}
		notes = append(notes, fmt.Sprintf("All %d series%s: %+.1f%% since %s (%s). It is left out of the changes above.", c.Series, host, 100*(c.After/c.Before-1), c.From.Name, c.State))
	}
	for _, t := range r.Together {
		text := fmt.Sprintf("%d of %d series changed since %s%s, in the median by %+.1f%% of their whole.", t.Series, t.Of, t.Night.Name, t.AndPerhaps(), 100*(t.Middle-1))
		var most, differences []string
		for _, f := range t.Most[:min(mostTold, len(t.Most))] {
			most = append(most, f.Program+" ("+f.SharedSince(t.Night)[0].Name+")")
		}
		for _, d := range t.Differences {
			differences = append(differences, d.What+": "+compare.Few(d.Before)+" → "+compare.Few(d.After))
		}
		text += " Most: " + strings.Join(most, ", ") + "."
		if differences != nil {
			text += " In " + t.Most[0].Program + " differs " + strings.Join(differences, "; ") + "."
		}
		notes = append(notes, text)
	}
	return notes
}

// mostTold limits the number of series that are named among those that changed together.
const mostTold = 5
