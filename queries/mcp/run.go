//go:build cgo

package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/digest"
	"stackmill/queries/explain"
	"stackmill/queries/report"
	"stackmill/queries/text"
)

// experiments lists recordings.
func (s *Server) experiments(ctx context.Context, args *arguments) (*answer, error) {
	db, err := s.open(ctx, args.Select)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `
WITH found AS MATERIALIZED (SELECT experiment_id, count(*) FILTER (severity = 'error') AS errors, count(*) FILTER (severity = 'warning') AS warnings FROM problems GROUP BY ALL),
named AS MATERIALIZED (SELECT experiment_id, string_agg(label || '=' || value, ' ' ORDER BY label) AS labels FROM labels GROUP BY ALL),
measured AS MATERIALIZED (SELECT experiment_id, string_agg(metric, ' ' ORDER BY metric) AS metrics FROM metrics GROUP BY ALL)
SELECT e.experiment, e.format, e.target, e.host, e.started, e.started_from, e.duration_ns / 1e9 AS seconds, e.samples, e.status,
  COALESCE(f.errors, 0) AS errors, COALESCE(f.warnings, 0) AS warnings, m.metrics, l.labels
FROM experiments e LEFT JOIN found f USING (experiment_id) LEFT JOIN named l USING (experiment_id) LEFT JOIN measured m USING (experiment_id)
ORDER BY e.started DESC NULLS LAST, e.experiment`)
	if err != nil {
		return nil, err
	}
	a := &answer{}
	return a, (&collector{answer: a, limit: args.Limit}).print(rows)
}

func (s *Server) query(ctx context.Context, args *arguments) (*answer, error) {
	db, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if strings.Trim(args.SQL, "; \t\r\n") == "" {
		return nil, errors.New("no SQL given")
	}
	last, err := db.Admit(ctx, conn, args.SQL)
	if err != nil {
		return nil, err
	}
	a := &answer{Warnings: db.Advise(ctx, conn, last)}
	rows, err := conn.QueryContext(ctx, queries.AtMost(conn, last, maxCounted))
	if err != nil {
		return nil, err
	}
	return a, (&collector{answer: a, limit: args.Limit}).print(rows)
}

// explain explains how a stack was made or, without a stack, how the tables are made.
func (s *Server) explain(ctx context.Context, args *arguments) (*answer, error) {
	var lines strings.Builder
	if args.Stack == "" && args.Experiment != "" {
		return nil, errors.New("experiment is given without stack (give stack too, or neither)")
	}
	if args.Stack == "" {
		err := s.Stages(&lines)
		return linesAnswer(lines.String()), err
	}
	id, err := explain.ParseID(args.Stack)
	if err != nil {
		return nil, fmt.Errorf("stack: %w", err)
	}
	db, err := s.open(ctx, args.Experiment)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	x, err := explain.Stack(ctx, db, id)
	if err != nil {
		return nil, err
	}
	err = x.Print(&lines)
	return linesAnswer(lines.String()), err
}

func linesAnswer(text string) *answer {
	a := &answer{Columns: []string{"line"}}
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		a.Rows = append(a.Rows, []any{terminal.Shorten(line, maxName)})
	}
	a.RowsTotal = len(a.Rows)
	return a
}

// compare compares two recordings, or groups.
func (s *Server) compare(ctx context.Context, args *arguments) (*answer, error) {
	r := compare.Defaults()
	r.Base, r.Test, r.Metric, r.Mode, r.By = []string{args.Base}, []string{args.Test}, args.Metric, args.Mode, cmp.Or(args.By, r.By)
	if args.Base == "" || args.Test == "" {
		return nil, errors.New("give base and test")
	}
	f := args.filter()
	if err := r.Check(); err != nil {
		return nil, err
	}
	f.Mode = r.Mode
	if err := r.Choose(&f); err != nil {
		return nil, err
	}
	store, err := s.open(ctx, args.Base, args.Test)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	db, closing, err := s.session.Filter(ctx, s.out, store, f, r.Reads()...)
	if err != nil {
		return nil, err
	}
	defer closing()
	r.Hidden = db.HiddenFunctions()
	compared, err := compare.Run(ctx, db, r)
	if err != nil {
		return nil, err
	}
	a := &answer{View: "compare", Mode: compared.Mode, Filter: shortened(compared.Where), Hidden: shortened(compared.Hidden)}
	a.Warnings = shortened(append(text.Unfair(compared), compared.Warnings...))
	a.Note = fmt.Sprintf("%s; medians of %s (%s) of %d and %s; %d of %s changed; ratio, low and high are test to base at %g%%; q is the rate of false discoveries",
		compared.Headline(), compared.Metric, compared.Unit, len(compared.Base.Runs), text.Plural(len(compared.Test.Runs), "run"), text.Changed(compared.Rows), text.Plural(len(compared.Rows), "row"), 100*compared.Level)
	return a, compared.Print(&collector{answer: a, limit: args.Limit}, compared.Rows)
}

// digest answers with the recent changes.
func (s *Server) digest(ctx context.Context, args *arguments) (*answer, error) {
	r := digest.Defaults()
	r.Since, r.Order, r.Metric, r.Mode = cmp.Or(args.Since, r.Since), cmp.Or(args.Order, r.Order), args.Metric, args.Mode
	if err := r.Check(); err != nil {
		return nil, err
	}
	db, err := s.open(ctx, args.Select)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if args.Select != "" {
		r.Selected = []string{args.Select}
	}
	d, err := digest.Run(ctx, db, r)
	if err != nil {
		return nil, err
	}
	a := &answer{View: "digest", Mode: d.Mode, Warnings: shortened(d.Warnings)}
	a.Note = fmt.Sprintf("%d experiments, nights %s to %s; changes since %s of %d series that are sure, and of %d that may be; %d series as usual; impact is the change in relation to the whole program",
		d.Experiments, d.First, d.Last, d.SinceNight, len(d.Sure), len(d.Maybe), d.Quiet)
	for _, c := range d.Common {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d series of host %q have in common since %s (%s), and it is left out of the changes: %.3f times the values before", c.Series, c.Host, c.From.Name, c.State, c.After/c.Before))
	}
	for _, t := range d.Together {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d of %d series changed since %s, which is told once: %.3f times the values before, in the median", t.Series, t.Of, t.Night.Name, t.Middle))
	}
	return a, d.Print(&collector{answer: a, limit: args.Limit})
}

// report makes a standard report.
func (s *Server) report(ctx context.Context, args *arguments) (*answer, error) {
	if args.View == "" {
		if f := args.filter(); args.Experiment != "" || args.Metric != "" || args.Function != "" || args.Sort != "" || args.Sum || args.By != "" || !f.IsEmpty() {
			return nil, errors.New("argument view is missing (leave out all arguments to list the views)")
		}
		a := &answer{Columns: []string{"view", "title"}, RowsTotal: len(report.Reports)}
		for _, r := range report.Reports {
			a.Rows = append(a.Rows, []any{r.Name, r.Title})
		}
		return a, nil
	}
	r := report.Defaults()
	r.Metric, r.Mode, r.Function, r.Sort, r.Sum, r.By = args.Metric, args.Mode, args.Function, args.Sort, args.Sum, args.By
	f := args.filter()
	r.Filter = f
	if err := r.About(args.View, true); err != nil {
		return nil, err
	}
	store, err := s.open(ctx, args.Experiment)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	db, closing, err := s.session.Filter(ctx, s.out, store, f, append(r.Reads(), coverageReads...)...)
	if err != nil {
		return nil, err
	}
	defer closing()
	q, err := report.Ask(ctx, db, &r)
	if err != nil {
		return nil, err
	}
	rows, err := q.Rows(ctx)
	if err != nil {
		return nil, err
	}
	a := &answer{View: r.View, Mode: args.Mode}
	if err := a.addFilter(ctx, db, f); err != nil {
		return nil, err
	}
	for _, m := range q.Emptied {
		a.Warnings = append(a.Warnings, "the filter leaves nothing of "+m+": another metric is shown")
	}
	a.Warnings = append(a.Warnings, shortened(q.Remarks)...)
	part := &partition{several: db.Count > 1 || q.OnlyMetric() == "", sum: r.Sum}
	c := &collector{answer: a, limit: args.Limit, drop: part.drop, each: part.each}
	part.collector = c
	if err := c.print(rows); err != nil {
		return nil, err
	}
	if err := part.cover(ctx, db); err != nil {
		return nil, err
	}
	return a, part.compareWithWhole(ctx, db)
}
