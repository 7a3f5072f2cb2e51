package serve

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/queries/result"
)

// viewRows answers with the rows of a standard view, as `stackmill report` prints them.
func viewRows(w *job) error {
	r := report.Defaults()
	v := w.values
	r.Metric, r.Function, r.File, r.Object, r.Sort = v.Get("metric"), v.Get("function"), v.Get("file"), v.Get("object"), v.Get("sort")
	r.Mode, r.Alias, r.Inline = cmp.Or(v.Get("mode"), r.Mode), cmp.Or(v.Get("alias"), r.Alias), v.Get("inline") == "true"
	r.Sum, r.By = v.Get("sum") == "true", v.Get("by")
	var err error
	if r.Limit, err = w.intValue("limit", 0); err != nil {
		return err
	}
	if text := v.Get("width"); text != "" {
		if r.Width, err = time.ParseDuration(text); err != nil {
			return badRequest(fmt.Errorf("width: %q is not a duration such as 100ms", text))
		}
	}
	r.Fields = w.columns()
	if _, err := report.Find(w.name); err != nil {
		return &failure{http.StatusNotFound, fmt.Errorf("%w; GET /api/v1/views lists them, too", err)}
	}
	f, err := w.filter(r.Mode, r.Inline)
	if err != nil {
		return err
	}
	r.Filter = f
	if err := r.About(w.name, v.Has("mode")); err != nil {
		return badRequest(err)
	}
	db, done, err := w.open(f, r.Reads(), v["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	q, err := report.Ask(w.ctx, db, &r)
	if err != nil {
		return requestError(err)
	}
	for _, remark := range q.Remarks {
		w.warn("%s", remark)
	}
	for _, m := range q.Emptied {
		w.warn("no samples of %s pass the filter: another metric is shown", m)
	}
	return w.print(db, q.Statement())
}

// print answers with the rows of a statement in the requested format.
func (w *job) print(db *queries.DB, statement string) error {
	format := cmp.Or(w.values.Get("format"), "json")
	conn, err := db.Conn(w.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return w.printRows(db, conn, format, statement)
}

// printRows is print on an open connection, in a given format.
func (w *job) printRows(db *queries.DB, conn *sql.Conn, format, statement string) error {
	w.kind = formats[format]
	switch format {
	case "arrow":
		return result.Arrow(w.ctx, conn, statement, w.out)
	case "parquet":
		err := db.CopyParquet(w.ctx, conn, statement, w.out.Most, w.out)
		w.out.Full = w.out.Full || errors.Is(err, queries.ErrTooLarge)
		return err
	}
	rows, err := conn.QueryContext(w.ctx, statement)
	if err != nil {
		return err
	}
	p := result.JSON(w.out)
	switch format {
	case "csv":
		p = result.CSV(w.out, nil)
	case "ndjson":
		p = result.NDJSON(w.out)
	}
	return result.Print(p, rows)
}

// formatNames returns the names of the formats for rows.
func formatNames() []string { return slices.Sorted(maps.Keys(formats)) }

// listViews answers with the views and their columns.
func listViews(w *job) error {
	views, err := queries.Views()
	if err != nil {
		return err
	}
	p := result.JSON(w.out)
	if err := p.Header([]result.Field{{Name: "report"}, {Name: "view"}, {Name: "title"}, {Name: "row"}, {Name: "columns"}}); err != nil {
		return err
	}
	for _, r := range report.Reports {
		v := views[slices.IndexFunc(views, func(v queries.View) bool { return v.Name == r.View })]
		columns := make([]any, len(v.Columns))
		for i, c := range v.Columns {
			columns[i] = map[string]any{"name": c.Name, "type": c.Type, "unit": c.Unit, "meaning": c.Doc}
		}
		if err := p.Row([]any{r.Name, r.View, r.Title, v.Row, columns}); err != nil {
			return err
		}
	}
	return p.Close()
}

// listExperiments answers with the experiments and their columns.
func listExperiments(w *job) error {
	db, done, err := w.open(queries.Filter{}, nil, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	columns := w.columns()
	for _, c := range columns {
		if !queries.IsColumn(c) && !slices.Contains(queries.ExtraColumns, c) {
			return badRequest(fmt.Errorf("columns: experiments have no column %q", c))
		}
	}
	rows, err := db.ListExperiments(w.ctx, columns...)
	if err != nil {
		return err
	}
	return result.Print(result.JSON(w.out), rows)
}

// rowsOf returns a handler that answers with the rows of a query.
func rowsOf(query string) func(*job) error {
	return func(w *job) error {
		db, done, err := w.open(queries.Filter{}, nil, w.values["experiment"]...)
		if err != nil {
			return err
		}
		defer done()
		return w.print(db, query)
	}
}

// metricsQuery is SQL for the metrics, with how many experiments have each and how many show it by default.
const metricsQuery = `SELECT m.metric, m.unit, any_value(m.title) AS title, any_value(m.kind) AS kind, bool_or(m.data_objects) AS data_objects,
  count(*) AS experiments, count(*) FILTER (m.metric = d.metric) AS default_of
FROM metrics m LEFT JOIN default_metrics d USING (experiment_id) GROUP BY m.metric, m.unit ORDER BY default_of DESC, experiments DESC, m.metric`

// problemsQuery is SQL for the problems of all recordings.
const problemsQuery = `SELECT p.experiment_id, n.experiment, p.problem, p.severity, p.process, p.file, p.offset, p.reason, p.message, p.count
FROM problems p LEFT JOIN experiment_names n USING (experiment_id)
ORDER BY n.experiment, array_position(['error', 'warning', 'info'], p.severity), p.problem`
