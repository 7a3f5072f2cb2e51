//go:build cgo

package main

import (
	"context"

	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/queries/result"
)

// drawings print rows that are more than a table, by the report's name.
var drawings = map[string]func(*reporter, context.Context, *report.Question, []queries.Record) error{
	"callers-callees": (*reporter).callersCallees,
	"call-tree":       (*reporter).callTree,
	"source":          (*reporter).source,
	"disasm":          (*reporter).disasm,
	"data-layout":     (*reporter).dataLayout,
	"leaks":           (*reporter).callStacks,
	"allocations":     (*reporter).callStacks,
	"heap":            (*reporter).callStacks,
	"io-stacks":       (*reporter).callStacks,
	"header":          (*reporter).forms,
	"statistics":      (*reporter).forms,
	"sample-points":   (*reporter).forms,

	"function-summary": (*reporter).functionSummary,
}

// run prints the report.
func (r *reporter) run(ctx context.Context) error {
	if r.db.Count == 0 {
		return r.emptyStore()
	}
	q, err := report.Ask(ctx, r.db, &r.Request)
	if err != nil {
		return err
	}
	if r.format != "table" && r.format != "markdown" {
		rows, err := q.Rows(ctx)
		if err != nil {
			return err
		}
		return result.Print(result.New(&r.Output, r.format), rows)
	}
	ask := q.Table
	if r.draws() || len(q.Side) > 1 {
		ask = q.Drawing
	}
	rows, err := ask(ctx)
	if err != nil {
		return err
	}
	if r.format == "table" {
		if err := r.caption(ctx, q); err != nil {
			return err
		}
		if r.Drawn && len(rows) > 0 {
			return drawings[r.Name](r, ctx, q, rows)
		}
	}
	if len(rows) == 0 && r.format == "table" {
		return r.Printf("%s\n", r.nothing())
	}
	if len(q.Side) > 1 {
		return r.sideBySide(q, r.withTotals(rows))
	}
	fields, cells := r.layout(q, r.withTotals(rows))
	return r.Table(fields, cells, r.format == "markdown")
}

// nothing says why a report has no rows.
func (r *reporter) nothing() string {
	switch {
	case r.Name == "conservation":
		return "Every sum holds."
	case r.Name == "source":
		return "No lines are known there (stackmill report lines shows those that have values)."
	case r.Name == "disasm":
		return "The instructions are not known: the machine code was not found, or the function has no value."
	case r.OfData:
		return "There are no data objects: no sample is an access to memory (perf record -d of page faults, watchpoints or memory events has some)."
	}
	return "There is nothing to show."
}

// withTotals puts <Total> before each experiment's and metric's rows if the view lacks
// it (S19).
func (r *reporter) withTotals(rows []queries.Record) []queries.Record {
	if !r.Totals {
		return rows
	}
	var out []queries.Record
	for _, group := range groups(rows) {
		first := group[0]
		if !r.Measured() {
			out = append(append(out, r.sumOf(first)), group...)
			continue
		}
		n := first["total"]
		out = append(out, queries.Record{
			"experiment": first["experiment"], "metric": first["metric"], "unit": first["unit"], "total": n,
			"exclusive": n, "inclusive": n, "value": n, r.nameColumn(): "<Total>",
		})
		out = append(out, group...)
	}
	return out
}

// sumOf is <Total> where rows have several values.
func (r *reporter) sumOf(first queries.Record) queries.Record {
	total := queries.Record{"experiment": first["experiment"], r.nameColumn(): "<Total>"}
	for _, c := range r.Columns {
		if c.As == report.Count || c.As == report.Time {
			total[c.Name] = first[report.TotalOf(c.Name)]
		}
	}
	return total
}

// nameColumn is the first column that holds no value.
func (r *reporter) nameColumn() string {
	for _, c := range r.Columns {
		switch c.As {
		case report.Metric, report.Count, report.Time:
		default:
			return c.Name
		}
	}
	return ""
}
