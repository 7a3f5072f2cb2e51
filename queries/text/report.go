//go:build cgo

// Package text prints answers for people: reports, comparisons, gates and lists of experiments.
//
// Start reading with Report.Print; drawings lists the reports that are not just a table.
package text

import (
	"context"
	"maps"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/queries/result"
)

// Report prints a report.
type Report struct {
	*terminal.Output
	report.Request
	DB         *queries.DB
	Format     string
	Wide       bool // long names stay whole
	ReadSource func(file string) (path string, lines []string, err error)
}

// Draws reports whether a report is drawn in a format, rather than printed as a table.
func Draws(r *report.Report, format string) bool {
	return r.Drawn && (format == "table" || format == "html")
}

// drawings maps the names of reports that are not just a table to the methods that print them.
var drawings = map[string]func(*Report, context.Context, *report.Question, []queries.Record) error{
	"callers-callees": (*Report).callersCallees,
	"call-tree":       (*Report).callTree,
	"source":          (*Report).source,
	"disasm":          (*Report).disasm,
	"data-layout":     (*Report).dataLayout,
	"leaks":           (*Report).callStacks,
	"allocations":     (*Report).callStacks,
	"heap":            (*Report).callStacks,
	"io-stacks":       (*Report).callStacks,
	"header":          (*Report).forms,
	"statistics":      (*Report).forms,
	"sample-points":   (*Report).forms,

	"function-summary": (*Report).functionSummary,
}

// Print prints the report.
func (r *Report) Print(ctx context.Context) error {
	if r.Format == "html" {
		return r.printDocument(ctx)
	}
	q, err := report.Ask(ctx, r.DB, &r.Request)
	if err != nil {
		return err
	}
	if r.Format != "table" && r.Format != "markdown" {
		for _, remark := range q.Remarks {
			r.Warnf("%s", remark)
		}
		rows, err := q.Rows(ctx)
		if err != nil {
			return err
		}
		return result.Print(result.New(r.Output, r.Format), rows)
	}
	ask := q.Table
	if Draws(&r.Report, r.Format) || len(q.Side) > 1 {
		ask = q.Drawing
	}
	rows, err := ask(ctx)
	if err != nil {
		return err
	}
	if r.Format == "table" {
		if err := r.caption(ctx, q, rows); err != nil {
			return err
		}
		if r.Drawn && len(rows) > 0 {
			return drawings[r.Name](r, ctx, q, rows)
		}
	}
	if len(rows) == 0 && r.Format == "table" {
		return r.Printf("%s\n", r.emptyText())
	}
	r.addColumns(q)
	if len(q.Side) > 1 {
		return r.sideBySide(q, r.withTotals(rows))
	}
	fields, cells := r.layout(q, r.withTotals(rows))
	if err := r.Table(fields, cells, r.Format == "markdown"); err != nil {
		return err
	}
	return r.sayLeftOut(q, r.leftOutRows(rows))
}

// emptyText explains why a report has no rows.
func (r *Report) emptyText() string {
	switch {
	case r.Name == "conservation":
		return "Every sum holds."
	case r.Name == "source":
		return "No lines are known there (stackmill report lines shows those that have values)."
	case r.Name == "disasm":
		return "The instructions are not known: the machine code was not found, or the function has no value."
	case r.OfData:
		return "There are no data objects: no sample is of a memory access (perf record -d records the addresses of page faults, watchpoints and memory events)."
	}
	return "There is nothing to show."
}

// withTotals inserts a row for <Total> before the rows of each experiment and metric, if the view
// lacks such rows (S19).
func (r *Report) withTotals(rows []queries.Record) []queries.Record {
	if !r.Totals {
		return rows
	}
	var out []queries.Record
	for _, group := range r.groups(rows) {
		out = append(append(out, r.total(group[0])), group...)
	}
	return out
}

// total returns the row for <Total>. Each row of a report has the values of <Total> in columns of
// its own: first is any of these rows.
func (r *Report) total(first queries.Record) queries.Record {
	total := queries.Record{"metric": first["metric"], "unit": first["unit"], "total": first["total"], r.nameColumn(): "<Total>"}
	if !r.Sum {
		total["experiment"] = first["experiment"]
	}
	for _, name := range []string{"exclusive", "inclusive", "value"} {
		total[name] = first["total"]
	}
	for _, c := range r.Columns {
		if c.As == report.Count || c.As == report.Time {
			total[c.Name] = first[report.TotalOf(c.Name)]
		}
	}
	r.sumOfTotal(total, first)
	return total
}

// nameColumn returns the name of the first column that is not a value.
func (r *Report) nameColumn() string {
	return r.Columns[slices.IndexFunc(r.Columns, func(c report.Column) bool {
		return c.As != report.Metric && c.As != report.Count && c.As != report.Time && c.As != report.Amount && c.As != report.Ratio && !strings.Contains(c.Name, " ")
	})].Name
}

// sections prints the rows of each experiment and metric under a title (groupTitle), and a line about
// the rows that the limit leaves out.
func (r *Report) sections(q *report.Question, rows []queries.Record, section func(*terminal.Page, []queries.Record) (leftOut, error)) error {
	w := r.Page()
	for i, group := range r.groups(rows) {
		if i > 0 {
			w.Printf("\n")
		}
		r.groupTitle(w, q, group[0])
		left, err := section(w, group)
		if err != nil {
			return err
		}
		left.print(w)
	}
	return w.Flush()
}

// groupTitle prints the title of a group: the experiment and the metric, unless the caption has
// named the only one. rec is one of the group's rows.
func (r *Report) groupTitle(w *terminal.Page, q *report.Question, rec queries.Record) {
	for _, c := range r.heading(q) {
		w.Printf("%s %s\n", c.Title, rec.Text(c.Name))
	}
}

// groups splits the rows where the experiment or the metric changes. It splits the rows of a sum only
// where the metric changes.
func (r *Report) groups(rows []queries.Record) [][]queries.Record {
	if r.Sum {
		return split(rows, "metric")
	}
	return split(rows, "experiment_id", "metric")
}

// split splits the rows where one of the columns changes.
func split(rows []queries.Record, columns ...string) (parts [][]queries.Record) {
	for i, rec := range rows {
		if i == 0 || slices.ContainsFunc(columns, func(c string) bool { return rec[c] != rows[i-1][c] }) {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], rec)
	}
	return parts
}

// caption prints the lines above a table of these rows, which describe the contents of the table.
func (r *Report) caption(ctx context.Context, q *report.Question, rows []queries.Record) error {
	title := r.Title
	if metric := q.OnlyMetric(); metric != "" {
		title += ", metric " + metric
	}
	if r.Mode != "" && r.HasModes() {
		title += ", " + r.Mode + " mode"
	}
	switch {
	case r.DB.Count == 1:
		title += ", experiment " + r.DB.Single
	case r.Sum:
		title += r.sumTitle(q, rows)
	}
	w := r.Page()
	w.Linef(terminal.Bold, "%s", title)
	for _, remark := range q.Remarks {
		w.Linef(terminal.Faint, "%s", remark)
	}
	if r.DB.IsFiltered() {
		if err := r.filterCaption(ctx, w, q); err != nil {
			return err
		}
	}
	w.Printf("\n")
	return w.Flush()
}

// filterCaption prints the hidden functions, the filter's conditions, and the share of the
// samples that it selects.
func (r *Report) filterCaption(ctx context.Context, w *terminal.Page, q *report.Question) error {
	for _, functions := range r.DB.HiddenFunctions() {
		w.Printf("Hidden: %s\n", functions)
	}
	conditions, err := r.Filter.Conditions()
	if err != nil || conditions == nil {
		return err
	}
	shares, err := r.DB.Shares(ctx)
	if err != nil {
		return err
	}
	sums := map[string]*queries.Share{}
	for _, s := range shares {
		if q.About(s.ExperimentID, s.Metric) {
			sum := sums[s.Metric]
			if sum == nil {
				sum = &queries.Share{Metric: s.Metric, Unit: s.Unit}
				sums[s.Metric] = sum
			}
			sum.Value, sum.Whole = sum.Value+s.Value, sum.Whole+s.Whole
		}
	}
	for i, c := range conditions {
		w.Printf("%-7s %s\n", []string{"Filter:", "and"}[min(i, 1)], c)
	}
	for _, m := range q.Emptied {
		w.Printf("selects no samples of %s: another metric is shown\n", m)
	}
	for _, m := range slices.Sorted(maps.Keys(sums)) {
		s, of := sums[m], ""
		if len(sums) > 1 {
			of = " of " + m
		}
		w.Printf("selects %s %% of the total%s: %s of %s%s\n", Percent(s.Value, s.Whole), of, Value(s.Value, s.Unit), Value(s.Whole, s.Unit), unitTitle(s.Unit))
	}
	w.Printf("percentages below are relative to the selection\n")
	return nil
}
