//go:build cgo

package text

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stackmill/internal/terminal"
	"stackmill/queries/rank"
	"stackmill/queries/trend"
)

// TrendForm controls how Trend prints a trend.
type TrendForm struct {
	Points   int  // how many of the newest values of each series are printed; 0: all, -1: none
	Markdown bool // print Markdown
	UTF8     bool // print UTF-8, otherwise ASCII only
}

// trendWidth is the width of a trend that is not printed to a terminal.
const trendWidth = 80

// Trend prints values over experiments: for each series a sparkline, its changes, and its newest
// values.
func Trend(out *terminal.Output, t *trend.Result, form TrendForm) error {
	if err := trendCaption(out, t); err != nil {
		return err
	}
	for i := range t.Series {
		s := &trendSeries{Output: out, TrendForm: form, result: t, Series: &t.Series[i]}
		s.unit = scaleOf(t, s.Values)
		for _, print := range []func() error{s.print, s.printChanges, s.printPoints} {
			if err := print(); err != nil {
				return err
			}
		}
	}
	shown := map[int64]bool{}
	for i := range t.Series {
		shown[t.Series[i].Key] = true
	}
	if n := t.Matched - len(shown); n > 0 {
		return out.Printf("\n%s with lower sums (--limit %d shows all)\n", Plural(n, "more function"), t.Matched)
	}
	return nil
}

// trendCaption prints what the trend shows, and warnings about it.
func trendCaption(out *terminal.Output, t *trend.Result) error {
	w := out.Page()
	kind := "exclusive"
	if t.Inclusive {
		kind = "inclusive"
	}
	switch t.Normalize {
	case "total":
		kind += " as part of <Total>"
	case "run":
		kind += " by the second of the run"
	}
	w.Printf("Trend, metric %s, %s mode, %s\n", t.Metric, t.Mode, kind)
	if n := len(t.Points); n > 0 {
		w.Printf("  %s, %s to %s\n", Plural(n, "experiment"), trendPlace(&t.Points[0]), trendPlace(&t.Points[n-1]))
	} else {
		w.Printf("  no experiments\n")
	}
	for _, warning := range t.Warnings {
		w.Printf("  warning: %s\n", warning)
	}
	return w.Flush()
}

// trendPlace returns the value by which a point is ordered: its start, to the minute, or its value of
// the key in Order.
func trendPlace(p *trend.Point) string {
	if p.Ordered != "" {
		return p.Ordered
	}
	at, err := time.Parse(time.RFC3339, p.Started)
	if err != nil {
		return p.Started
	}
	return at.Round(time.Minute).Format("2006-01-02 15:04")
}

// trendSeries prints a series.
type trendSeries struct {
	*terminal.Output
	TrendForm
	*trend.Series
	result *trend.Result
	unit   scale
}

// scale is the unit in which values are printed.
type scale struct {
	name   string
	factor float64 // size in the metric's unit
	digits int     // after the decimal point
}

// scaleOf returns a scale in which the highest of the values has at least four digits.
func scaleOf(t *trend.Result, values []float64) scale {
	highest := slices.Max(append([]float64{0}, values...))
	units, rate := []scale{{"", 1, 0}}, ""
	switch {
	case t.Normalize == "total":
		units = []scale{{"%", 0.01, 0}}
	case t.Unit == "ns":
		units = []scale{{"s", 1e9, 0}, {"ms", 1e6, 0}, {"us", 1e3, 0}}
	case t.Unit == "bytes":
		units = []scale{{"GiB", 1 << 30, 0}, {"MiB", 1 << 20, 0}, {"KiB", 1 << 10, 0}, {"bytes", 1, 0}}
	}
	if t.Normalize == "run" {
		rate = "/s"
	}
	for i, u := range units {
		if highest < u.factor && i < len(units)-1 {
			continue
		}
		u.name += rate
		if u.factor != 1 || rate != "" {
			u.digits = 3 - min(max(int(math.Floor(math.Log10(max(highest/u.factor, 1)))), 0), 3)
		}
		return u
	}
	return units[0]
}

// number formats a value without its unit.
func (u scale) number(v float64) string { return fmt.Sprintf("%.*f", u.digits, v/u.factor) }

// format formats a value.
func (u scale) format(v float64) string { return strings.TrimSpace(u.number(v) + " " + u.name) }

// print prints the name of the series, a sparkline with its changes marked below, and a summary of its
// values.
func (s *trendSeries) print() error {
	w := s.Page()
	w.Printf("\n%s\n", s.title())
	if len(s.Values) == 0 {
		return w.Flush()
	}
	sorted := slices.Sorted(slices.Values(s.Values))
	low, high, median := sorted[0], sorted[len(sorted)-1], rank.Median(sorted)
	from, to := min(low, 0.95*median), max(high, 1.05*median) // noise must not look like a change
	width := cmp.Or(s.Width(), trendWidth) - 4
	line, at := terminal.Sparkline(s.Values, from, to, width, s.UTF8)
	marks := strings.Builder{}
	for _, c := range s.Changes {
		if column := at(c.At); column >= marks.Len() {
			marks.WriteString(strings.Repeat(" ", column-marks.Len()) + "^")
		}
	}
	if s.Markdown {
		w.Printf("\n`%s`\n\n", line)
	} else {
		w.Printf("  %s\n", line)
		if marks.Len() > 0 {
			w.Printf("  %s\n", marks.String())
		}
	}
	last := len(s.Values) - 1
	u := s.unit
	w.Printf("  first %s, last %s, median %s, from %s to %s\n", u.number(s.Values[0]), u.number(s.Values[last]), u.number(median), u.number(low), u.format(high))
	if len(s.Changes) == 0 {
		w.Printf("  no change\n")
	}
	return w.Flush()
}

// title returns the name of the series.
func (s *trendSeries) title() string {
	title := s.Function
	if s.LoadObject != "" && s.LoadObject != s.Function {
		title += " (" + s.LoadObject + ")"
	}
	if s.By != nil {
		title += fmt.Sprintf(", %s %s: %s", strings.TrimPrefix(s.result.By, "label="), cmp.Or(*s.By, "(none)"), Plural(len(s.Values), "experiment"))
	}
	if s.Markdown {
		return "### " + terminal.Markdown(title)
	}
	return title
}

// printChanges prints the changes of the series.
func (s *trendSeries) printChanges() error {
	if len(s.Changes) == 0 {
		return nil
	}
	fields := []terminal.Field{{Name: "Since"}, {Name: "Before", Numeric: true}, {Name: "After", Numeric: true}, {Name: "Change", Numeric: true}, {Name: "p", Numeric: true}, {Name: "Is"}, {Name: "Experiment", Path: true}}
	var cells [][]string
	for _, c := range s.Changes {
		p := s.result.PointOf(s.Series, c.At)
		cells = append(cells, []string{trendPlace(p), s.unit.format(c.Before), s.unit.format(c.After), stepOf(c.Before, c.After), fmt.Sprintf("%.1g", c.P), string(c.State), p.Experiment})
	}
	if err := s.Printf("\n"); err != nil {
		return err
	}
	return s.Table(fields, cells, s.Markdown)
}

// stepOf formats the change from one value to another.
func stepOf(before, after float64) string {
	if before == 0 {
		return "new"
	}
	return percentChange(after / before)
}

// printPoints prints the newest values of the series.
func (s *trendSeries) printPoints() error {
	n := len(s.Values)
	switch most := s.TrendForm.Points; {
	case most < 0 || n == 0:
		return nil
	case most > 0:
		n = min(n, most)
	}
	first := "Started"
	if s.result.Order != "started" {
		first = strings.TrimPrefix(s.result.Order, "label=")
	}
	fields := []terminal.Field{{Name: first}, {Name: "Value", Numeric: true}, {Name: "Program"}, {Name: "Host"}, {Name: "Experiment", Path: true}}
	var cells [][]string
	for i := len(s.Values) - n; i < len(s.Values); i++ {
		p := s.result.PointOf(s.Series, i)
		cells = append(cells, []string{trendPlace(p), s.unit.format(s.Values[i]), p.Target, p.Host, p.Experiment})
	}
	if err := s.Printf("\n"); err != nil {
		return err
	}
	if err := s.Table(fields, cells, s.Markdown); err != nil {
		return err
	}
	if rest := len(s.Values) - n; rest > 0 {
		w := s.Page()
		if s.Markdown {
			w.Printf("\n") // ends the table
		}
		w.Printf("%s (--points 0 prints all)\n", Plural(rest, "earlier value"))
		return w.Flush()
	}
	return nil
}
