//go:build cgo

package text

import (
	"context"
	"maps"
	"slices"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
)

// caption prints above a table what it shows.
func (r *Report) caption(ctx context.Context, q *report.Question) error {
	title := r.Title
	if metric := q.OnlyMetric(); metric != "" {
		title += ", metric " + metric
	}
	if r.Mode != "" && r.HasModes() {
		title += ", " + r.Mode + " mode"
	}
	if r.DB.Count == 1 {
		title += ", experiment " + r.DB.Single
	}
	w := r.Page()
	w.Printf("%s\n", title)
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
