package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"stackmill/queries"
	"stackmill/schema"
)

// Request is a report with what it is to show. Empty fields ask for nothing special.
type Request struct {
	Report
	Metric   string   // some, with commas between them, or "all"; empty: the first of each experiment
	Mode     string   // empty: all
	Function string   // a name by any alias, a part of one, or a regular expression
	File     string   // source: the end of a path
	Object   string   // a descriptor of data objects, like Function
	Alias    string   // whose choice of a function's names: manual, gprofng or perf
	Limit    int      // rows of each experiment and metric; 0: all
	Fields   []string // columns of the view that Rows has; nil: all
	Sort     string   // a column of the view; -COLUMN reverses
	Inline   bool     // inlined functions are functions of their own
	Width    time.Duration
	Filter   queries.Filter // of the store; its mode and inlined functions are the request's
}

// About makes the request one for a report, found by its name, and checks it. Reports that
// show all metrics, or modes, unless one is asked for, ask for all.
func (r *Request) About(name string, modeGiven bool) (err error) {
	if r.Report, err = Find(name); err != nil {
		return err
	}
	r.Report = r.OfFragment()
	if r.Inline {
		r.Report = r.Inlined()
	}
	if err := r.Check(); err != nil {
		return err
	}
	if r.Every && r.Metric == "" {
		r.Metric = "all"
	}
	if r.Name == "conservation" && !modeGiven {
		r.Mode = ""
	}
	return nil
}

// Defaults() has what is seldom wished otherwise.
func Defaults() Request {
	return Request{Mode: "user", Alias: "manual", Width: usualWidth}
}

// Modes are the representations; Aliases the choices of a function's names (S4).
var (
	Modes   = []string{"user", "expert", "machine"}
	Aliases = []string{"manual", "gprofng", "perf"}
)

// usualWidth is the width of the intervals of the views timeline, cpu_timeline and second_metrics.
const usualWidth = time.Second

// ofWidth are the views with intervals of other widths, by report.
var ofWidth = map[string]string{"timeline": "timeline_by", "cpu-timeline": "cpu_timeline_by", "seconds": "interval_metrics"}

// Check says what is wrong with a request, as far as that shows without a store.
func (r *Request) Check() error {
	columns := r.columnsOfView()
	column := strings.TrimPrefix(r.Sort, "-")
	switch {
	case !slices.Contains(Modes, r.Mode):
		return fmt.Errorf("--mode: no mode %q (one of %s)", r.Mode, strings.Join(Modes, ", "))
	case !slices.Contains(Aliases, r.Alias):
		return fmt.Errorf("--alias: no choice %q (one of %s)", r.Alias, strings.Join(Aliases, ", "))
	case r.Limit < 0:
		return fmt.Errorf("--limit: %d is less than 0", r.Limit)
	case r.Width <= 0:
		return fmt.Errorf("--width: %v is not longer than 0", r.Width)
	case r.Sort != "" && !slices.Contains(columns, column):
		return fmt.Errorf("--sort: %s has no column %q (one of %s)", r.View, column, strings.Join(columns, ", "))
	}
	for _, c := range r.Fields {
		if !slices.Contains(columns, c) {
			return fmt.Errorf("columns: %s has no column %q (one of %s)", r.View, c, strings.Join(columns, ", "))
		}
	}
	return r.refused()
}

// declared is the report's view.
func (r *Request) declared() queries.View {
	views, _ := queries.Views()
	i := slices.IndexFunc(views, func(v queries.View) bool { return v.Name == r.View })
	return views[i]
}

func (r *Request) columnsOfView() []string { return r.declared().ColumnNames() }

// Question is a request to one store, whose names are resolved.
type Question struct {
	*Request
	db        *queries.DB
	metrics   map[string][]string // by experiment id
	functions []string            // names; empty: all
	fragment  []string            // names of the functions of a piece of stacks, each with those of its lines
	objects   []string            // descriptors of data objects; empty: all
	// Side are the metrics that were asked for by their names, in that order.
	Side []string
	// Emptied are the metrics that would be shown if the filter left something of them.
	Emptied []string
}

// Ask resolves the names of a request in a store.
func Ask(ctx context.Context, db *queries.DB, r *Request) (*Question, error) {
	q := &Question{Request: r, db: db, metrics: map[string][]string{}}
	return q, q.choose(ctx)
}

// Rows returns the rows with the view's columns.
func (q *Question) Rows(ctx context.Context) (*sql.Rows, error) {
	return q.db.QueryContext(ctx, q.Statement())
}

// Statement returns the SQL of Rows.
func (q *Question) Statement() string { return q.sql(false, q.Limit) }

// Table returns the rows with what tables show beyond the view's columns: `total`, the
// metric's value of <Total>, and labels, which tell functions of one name apart.
func (q *Question) Table(ctx context.Context) ([]queries.Record, error) {
	return q.db.Records(ctx, q.sql(true, q.Limit))
}

// Drawing is Table with all rows: a drawing's limit is one of its own items.
func (q *Question) Drawing(ctx context.Context) ([]queries.Record, error) {
	return q.db.Records(ctx, q.sql(true, 0))
}

// About reports whether a metric of an experiment is asked for.
func (q *Question) About(experimentID, metric string) bool {
	return slices.Contains(q.metrics[experimentID], metric)
}

// OnlyMetric returns the metric if there is but one.
func (q *Question) OnlyMetric() string {
	only := ""
	if !q.Measured() {
		return only
	}
	for _, ms := range q.metrics {
		for _, m := range ms {
			if only != "" && only != m {
				return ""
			}
			only = m
		}
	}
	return only
}

// Metrics returns the metrics that are shown of any experiment: as they were asked for by
// their names, or sorted.
func (q *Question) Metrics() []string {
	if q.Side != nil {
		return q.Side
	}
	var all []string
	for _, of := range q.metrics {
		all = append(all, of...)
	}
	slices.SortFunc(all, schema.CompareMetrics)
	return slices.Compact(all)
}

// OfFunctions reports whether functions were asked for.
func (q *Question) OfFunctions() bool { return q.functions != nil }
