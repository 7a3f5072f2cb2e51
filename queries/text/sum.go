//go:build cgo

package text

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/queries/report"
)

// spreadWidth is the smallest width of a terminal on which tables show the spread of a sum.
const spreadWidth = 120

// spreadTitles are the headings of the columns of report.Spread.
var spreadTitles = []string{"Min", "Median", "Max", "Imbalance"}

// sumTitle returns the end of a caption, which names the experiments of a sum.
func (r *Report) sumTitle(q *report.Question, rows []queries.Record) string {
	n := r.DB.Count
	if !r.Measured() && !r.ListsApart() && len(rows) > 0 {
		n = int(rows[0].Number("experiments"))
	}
	if metric := q.OnlyMetric(); metric != "" {
		n = q.Members(metric)
	}
	title := ", sum of " + Plural(n, "experiment")
	if r.ListsApart() || n == 1 {
		title = ", " + Plural(n, "experiment")
	}
	if r.By != "" {
		title += " by " + r.By
	}
	if n < r.DB.Count {
		title += fmt.Sprintf(" of %d", r.DB.Count)
	}
	return title + " (--each shows one after the other)"
}

// addColumns adds the columns that only a sum has to the table, after the values: the columns for the
// values of a label or, if there is room, the spread.
func (r *Report) addColumns(q *report.Question) {
	primary := r.Primary()
	i := slices.IndexFunc(r.Columns, func(c report.Column) bool { return c.Name == primary })
	if !r.Sum || r.ListsApart() || i < 0 {
		return
	}
	as := r.Columns[i].As
	if as == report.Metric {
		as = report.Amount
	}
	var more []report.Column
	for _, by := range q.ByColumns() {
		more = append(more, report.Column{Name: report.DividedColumn(primary, by), Title: fmt.Sprintf("%s (%d)", strings.TrimPrefix(by.Name, r.By+"="), by.Experiments), As: as})
	}
	room := r.Output.Width() == 0 || r.Output.Width() >= spreadWidth
	if more == nil && (r.Wide || room && len(q.Side) < 2) {
		for k, of := range report.Spread {
			c := report.Column{Name: report.SpreadOf(primary, of), Title: spreadTitles[k], As: as}
			if of == "imbalance" {
				c.As = report.Ratio
			}
			more = append(more, c)
		}
	}
	for i < len(r.Columns) && r.isValue(r.Columns[i]) {
		i++
	}
	r.Columns = slices.Insert(slices.Clone(r.Columns), i, more...)
}

// isValue reports whether a column has values, rather than names or identifiers.
func (r *Report) isValue(c report.Column) bool {
	return c.As != report.Words && c.As != report.Address && !r.Identifies(c.Name)
}

// sumOfTotal sets the values of <Total> in the columns that only a sum has. first is any row of the
// same metric.
func (r *Report) sumOfTotal(total, first queries.Record) {
	if !r.Sum || r.Primary() == "" {
		return
	}
	for _, c := range r.Columns {
		of := report.TotalOf("value") + c.Name[min(len(c.Name), len(r.Primary())):]
		if _, has := first[of]; has {
			total[c.Name] = first[of]
		}
	}
}
