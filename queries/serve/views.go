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

// view answers with the rows of a standard view, as the program's verb report prints them.
func view(w *work) error {
	r := report.Defaults()
	v := w.values
	r.Metric, r.Function, r.File, r.Object, r.Sort = v.Get("metric"), v.Get("function"), v.Get("file"), v.Get("object"), v.Get("sort")
	r.Mode, r.Alias, r.Inline = cmp.Or(v.Get("mode"), r.Mode), cmp.Or(v.Get("alias"), r.Alias), v.Get("inline") == "true"
	var err error
	if r.Limit, err = w.number("limit", 0); err != nil {
		return err
	}
	if text := v.Get("width"); text != "" {
		if r.Width, err = time.ParseDuration(text); err != nil {
			return wrong(fmt.Errorf("width: %q is no duration (100ms)", text))
		}
	}
	r.Fields = w.columns()
	if _, err := report.Find(w.name); err != nil {
		return &failure{http.StatusNotFound, fmt.Errorf("%w; GET /api/v1/views does here", err)}
	}
	f, err := w.filter(r.Mode, r.Inline)
	if err != nil {
		return err
	}
	r.Filter = f
	if err := r.About(w.name, v.Has("mode")); err != nil {
		return wrong(err)
	}
	db, done, err := w.open(f, r.Reads(), v["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	q, err := report.Ask(w.ctx, db, &r)
	if err != nil {
		return unlessEngine(err)
	}
	for _, m := range q.Emptied {
		w.warn("the filter leaves nothing of %s: another metric is shown", m)
	}
	return w.print(db, q.Statement())
}

// print answers with the rows of a statement of ours, in the format that is asked for.
func (w *work) print(db *queries.DB, statement string, args ...any) error {
	format := cmp.Or(w.values.Get("format"), "json")
	conn, err := db.Conn(w.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return w.printBy(db, conn, format, statement, args...)
}

// printBy is print by a connection.
func (w *work) printBy(db *queries.DB, conn *sql.Conn, format, statement string, args ...any) error {
	w.kind = formats[format]
	switch format {
	case "arrow":
		return result.Arrow(w.ctx, conn, statement, w.out)
	case "parquet":
		err := db.CopyParquet(w.ctx, conn, statement, w.out.Most, w.out)
		w.out.Full = w.out.Full || errors.Is(err, queries.ErrTooLarge)
		return err
	}
	rows, err := conn.QueryContext(w.ctx, statement, args...)
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

// formatNames are the formats that rows may have.
func formatNames() []string { return slices.Sorted(maps.Keys(formats)) }

// listViews answers with the names of the views, and what a row of each is.
func listViews(w *work) error {
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

// listExperiments answers with the experiments, with all that is known of each.
func listExperiments(w *work) error {
	db, done, err := w.open(queries.Filter{}, nil, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	columns := w.columns()
	for _, c := range columns {
		if !queries.IsColumn(c) && !slices.Contains(queries.ExtraColumns, c) {
			return wrong(fmt.Errorf("columns: experiments have no column %q", c))
		}
	}
	rows, err := db.ListExperiments(w.ctx, columns...)
	if err != nil {
		return err
	}
	return result.Print(result.JSON(w.out), rows)
}

// listMetrics answers with the metrics of the experiments: how many have each, and whether
// it is the one that is shown unless another is asked for.
func listMetrics(w *work) error {
	db, done, err := w.open(queries.Filter{}, nil, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	return w.print(db, `SELECT m.metric, m.unit, any_value(m.title) AS title, any_value(m.kind) AS kind, bool_or(m.data_objects) AS data_objects,
  count(*) AS experiments, count(*) FILTER (m.metric = d.metric) AS default_of
FROM metrics m LEFT JOIN default_metrics d USING (experiment_id) GROUP BY m.metric, m.unit ORDER BY default_of DESC, experiments DESC, m.metric`)
}

// listProblems answers with what is wrong with the recordings.
func listProblems(w *work) error {
	db, done, err := w.open(queries.Filter{}, nil, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	return w.print(db, `SELECT p.experiment_id, n.experiment, p.problem, p.severity, p.process, p.file, p.offset, p.reason, p.message, p.count
FROM problems p LEFT JOIN experiment_names n USING (experiment_id)
ORDER BY n.experiment, array_position(['error', 'warning', 'info'], p.severity), p.problem`)
}
