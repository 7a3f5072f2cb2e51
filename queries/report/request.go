package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stackmill/queries"
	"stackmill/schema"
)

// Request is a report and its parameters. Zero values are the defaults.
type Request struct {
	Report
	Metric   string   // one, several separated by commas, or "all"; empty: each experiment's default
	Mode     string   // empty: all
	Function string   // a name by any alias, a part of one, or a regular expression
	File     string   // of reports of source: the end of a path
	Object   string   // a data object's descriptor, like Function
	Alias    string   // which name of functions is shown: manual, gprofng or perf
	Limit    int      // rows of each experiment and metric; 0: all
	Fields   []string // columns of the view that Rows returns; nil: all
	Sort     string   // a column of the view; -COLUMN reverses the order
	Inline   bool     // inlined functions are frames of their own
	Width    time.Duration
	Sum      bool           // whether rows of all experiments are added up
	By       string         // a label, or a column of experiments, whose values divide the sum into columns
	Filter   queries.Filter // the filter of the session; it has the request's Mode and Inline
}

// About sets the report by its name, and checks the request. If the report shows all metrics or all
// modes by default, About requests all.
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

// Defaults returns a request with the default settings.
func Defaults() Request {
	return Request{Mode: "user", Alias: "manual", Width: defaultWidth}
}

// Modes are the representations of stacks; Aliases the choices of a function's name (S4).
var (
	Modes   = []string{"user", "expert", "machine"}
	Aliases = []string{"manual", "gprofng", "perf"}
)

// defaultWidth is the width of the intervals in the views timeline, cpu_timeline and
// second_metrics. Other widths need other views (ofWidth).
const defaultWidth = time.Second

// ofWidth maps reports to their macros that have the width of the intervals as a parameter.
var ofWidth = map[string]string{"timeline": "timeline_by", "cpu-timeline": "cpu_timeline_by", "seconds": "interval_metrics"}

// Check validates a request as far as possible without a store.
func (r *Request) Check() error {
	columns := r.columnsOfView()
	if r.Sum = r.Sum || r.By != ""; r.Sum && !r.ListsApart() {
		columns = r.columnsOfSum()
	}
	column := strings.TrimPrefix(r.Sort, "-")
	switch {
	case !slices.Contains(Modes, r.Mode):
		return fmt.Errorf("--mode: unknown mode %q (choose one of %s)", r.Mode, strings.Join(Modes, ", "))
	case !slices.Contains(Aliases, r.Alias):
		return fmt.Errorf("--alias: unknown alias %q (choose one of %s)", r.Alias, strings.Join(Aliases, ", "))
	case r.Limit < 0:
		return fmt.Errorf("--limit: %d is less than 0", r.Limit)
	case r.Width <= 0:
		return fmt.Errorf("--width: %v is not positive", r.Width)
	case r.Sum && !r.CanAdd():
		return fmt.Errorf("--sum: %s lists what is of one experiment: there is nothing to add up", r.Name)
	case !utf8.ValidString(r.By):
		return fmt.Errorf("--by: %q is not UTF-8", r.By)
	case r.By != "" && r.ListsApart():
		return fmt.Errorf("--by: each row of %s is of one experiment", r.Name)
	case r.Sort != "" && !slices.Contains(columns, column):
		return fmt.Errorf("--sort: %s has no column %q (choose one of %s)", r.View, column, strings.Join(columns, ", "))
	}
	for _, c := range r.Fields {
		if !slices.Contains(columns, c) {
			return fmt.Errorf("columns: %s has no column %q (choose one of %s)", r.View, c, strings.Join(columns, ", "))
		}
	}
	return r.refused()
}

func (r *Request) declared() queries.View {
	views, _ := queries.Views()
	i := slices.IndexFunc(views, func(v queries.View) bool { return v.Name == r.View })
	return views[i]
}

func (r *Request) columnsOfView() []string { return r.declared().ColumnNames() }

// Question is a request to one store, in which names of metrics, functions and data objects are
// resolved.
type Question struct {
	*Request
	db        *queries.DB
	metrics   map[string][]string // by experiment id
	functions []string            // names; empty: all
	fragment  []string            // for each function of a fragment of stacks, its names, one per line
	objects   []string            // descriptors of data objects; empty: all
	// Side lists the metrics that were requested by name, in that order: columns side by side.
	Side []string
	// Remarks describe what a sum leaves out, and what it could not add up.
	Remarks  []string
	by       *labelColumns
	highest  highestCode
	lines    []string // for a sum: the conditions for the lines of the requested functions
	oneBuild bool     // whether each function has one identifier in all experiments
	// Emptied lists the default metrics of which the filter leaves no values.
	Emptied []string
}

// Ask resolves the names in a request.
func Ask(ctx context.Context, db *queries.DB, r *Request) (*Question, error) {
	q := &Question{Request: r, db: db, metrics: map[string][]string{}}
	return q, q.choose(ctx)
}

// Rows returns the rows, with the columns of the view.
func (q *Question) Rows(ctx context.Context) (*sql.Rows, error) {
	return q.db.QueryContext(ctx, q.Statement())
}

// Statement returns the SQL of Rows.
func (q *Question) Statement() string { return q.statement(false, q.Limit) }

// statement returns the SQL for the rows: see sql.
func (q *Question) statement(table bool, limit int) string {
	if q.Sum {
		return q.sumSQL(table, limit)
	}
	return q.sql(table, limit)
}

// Table returns the rows with columns that only tables show: `total`, which is the metric's value
// of <Total>, and labels, which distinguish functions with the same name.
func (q *Question) Table(ctx context.Context) ([]queries.Record, error) {
	return q.db.Records(ctx, q.statement(true, q.Limit))
}

// Drawing is Table without a limit: a drawing applies the limit to what it draws.
func (q *Question) Drawing(ctx context.Context) ([]queries.Record, error) {
	return q.db.Records(ctx, q.statement(true, 0))
}

// About reports whether a metric of an experiment is requested.
func (q *Question) About(experimentID, metric string) bool {
	return slices.Contains(q.metrics[experimentID], metric)
}

// OnlyMetric returns the metric if there is only one.
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

// Metrics returns the metrics of all experiments, in the order in which they were requested by
// name, or sorted.
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

// OfFunctions reports whether functions were requested.
func (q *Question) OfFunctions() bool { return q.functions != nil }

// Reads returns the views and tables that the report reads: a filtered session needs only these.
func (r *Request) Reads() []string {
	reads := []string{r.View}
	switch r.Name {
	case "timeline", "cpu-timeline", "seconds":
		reads = append(reads, ofWidth[r.Name])
	case "disasm":
		reads = append(reads, "function_metrics")
	case "source":
		reads = append(reads, "source_values", "line_values", "source_inlined")
	}
	if r.Sum {
		reads = append(reads, "functions", "load_objects", "modules")
		if r.has("file") || r.has("scope") {
			reads = append(reads, "source_values")
		}
		if r.has("node_id") {
			reads = append(reads, "call_nodes")
		}
		if r.has("line") {
			reads = append(reads, "source_files", "source_values", "object_values")
		}
		if r.has("code_offset") || r.has("stack_id") {
			reads = append(reads, "object_values")
		}
	}
	return reads
}
