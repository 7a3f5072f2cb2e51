//go:build cgo

package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
)

// addFilter adds the flags that say which samples count, and which functions are shown.
func addFilter(c *cobra.Command, to *queries.Filter) {
	f := c.Flags()
	f.StringArrayVar(&to.Where, "where", nil, queries.WhereHelp)
	f.Int64SliceVar(&to.Threads, "thread", nil, "only samples of these threads")
	f.Int64SliceVar(&to.CPUs, "cpu", nil, "only samples on these CPUs")
	f.Int64SliceVar(&to.PIDs, "pid", nil, "only samples of these processes")
	f.StringArrayVar(&to.Between, "between", nil, queries.BetweenHelp)
	f.Var((*names)(&to.Hide), "hide", queries.HideHelp)
	f.Var((*names)(&to.APIOnly), "api-only", queries.APIOnlyHelp)
}

// names are the values of a flag, with commas between them. None, as an empty variable of
// a shell is, is a mistake: nothing would be hidden.
type names []string

// Set implements pflag.Value.
func (n *names) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(name) == "" {
			return errors.New("there is no name")
		}
		*n = append(*n, name)
	}
	return nil
}

// String implements pflag.Value.
func (n *names) String() string { return strings.Join(*n, ",") }

// Type implements pflag.Value.
func (n *names) Type() string { return "strings" }

// narrow returns the store with the samples that pass the filter, as a session that is
// closed before the store; the store itself if all pass. If views are named, it has what
// they read.
func (a *app) narrow(ctx context.Context, db *queries.DB, f queries.Filter, views ...string) (session *queries.DB, closing func(), err error) {
	if f.IsEmpty() {
		return db, func() {}, nil
	}
	session, err = db.Filter(ctx, f, views...)
	if wrong := new(queries.FilterError); errors.As(err, &wrong) {
		return nil, nil, exit.Usagef("%w", err)
	}
	if err != nil {
		return nil, nil, err
	}
	remarks, err := session.Remarks(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, session.Close())
	}
	for _, r := range remarks[len(a.leftOut):] { // these were said when the store was opened
		a.Warnf("%s", r)
	}
	return session, func() { _ = session.Close() }, nil
}

// filtered says above a table which samples it is about, how much of the whole they are,
// and which functions are hidden: percentages are of what is left.
func (r *reporter) filtered(ctx context.Context, q *report.Question) error {
	for _, functions := range r.db.HiddenFunctions() {
		if err := r.Printf("Hidden: %s\n", terminal.Printable(functions)); err != nil {
			return err
		}
	}
	conditions, err := r.Filter.Conditions()
	if err != nil || conditions == nil {
		return err
	}
	shares, err := r.db.Shares(ctx)
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
	metrics := slices.Sorted(maps.Keys(sums))
	for i, c := range conditions {
		if err := r.Printf("%-7s %s\n", []string{"Filter:", "and"}[min(i, 1)], c); err != nil {
			return err
		}
	}
	for _, m := range q.Emptied {
		if err := r.Printf("leaves nothing of %s: another metric is shown\n", m); err != nil {
			return err
		}
	}
	for _, m := range metrics {
		s := sums[m]
		unit, of := unitOf([]queries.Record{{"unit": s.Unit}}), ""
		if len(metrics) > 1 {
			of = " of " + m
		}
		if err := r.Printf("leaves %s %% of the whole%s: %s of %s%s\n", percent(s.Value, s.Whole), of, formatValue(s.Value, s.Unit), formatValue(s.Whole, s.Unit), unit); err != nil {
			return err
		}
	}
	return r.Printf("percentages below are of what is left\n")
}
