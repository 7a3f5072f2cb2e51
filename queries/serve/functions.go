package serve

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/queries/report"
)

// functionRows answers with functions and their values of several metrics side by side, in columns `exclusive.METRIC`
// and `inclusive.METRIC`. A value is 0 if the function has none, and null if its experiment lacks the metric. <Total>
// is always included and does not count toward the limit.
func functionRows(w *job) error {
	r, v := report.Defaults(), w.values
	r.Metric, r.Mode, r.Inline = v.Get("metric"), cmp.Or(v.Get("mode"), r.Mode), v.Get("inline") == "true"
	limit, err := w.intValue("limit", 0)
	if err != nil {
		return err
	}
	if err := r.About("functions", v.Has("mode")); err != nil {
		return badRequest(err)
	}
	f, err := w.filter(r.Mode, r.Inline)
	if err != nil {
		return err
	}
	db, done, err := w.open(f, append(r.Reads(), "metrics"), v["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	q, err := askByName(w.ctx, db, r)
	if err != nil {
		return requestError(err)
	}
	for _, m := range q.Emptied {
		w.warn("no samples of %s pass the filter: another metric is shown", m)
	}
	if f.IsEmpty() && !r.Inline && v.Get("search") == "" {
		if err := w.fits(db, q.Metrics(), r.Mode, limit); err != nil {
			return err
		}
	}
	statement, err := wideFunctions(q, v.Get("sort"), v.Get("search"), limit)
	if err != nil {
		return badRequest(err)
	}
	return w.print(db, statement)
}

// estimateFrom is the minimum number of experiments for which fits estimates the size of an answer before it is made:
// counting the functions takes a tenth of the time of sorting them.
const estimateFrom = 100

// fits returns an error if an answer in JSON is certainly too large. It estimates the minimum: the rows of the metric
// with the most functions in each experiment.
func (w *job) fits(db *queries.DB, metrics []string, mode string, limit int) error {
	format := cmp.Or(w.values.Get("format"), "json")
	if db.Count < estimateFrom || format != "json" && format != "ndjson" {
		return nil
	}
	most := "n"
	if limit > 0 {
		most = fmt.Sprintf("least(n, %d)", limit+1)
	}
	var rows int64
	err := db.QueryRowContext(w.ctx, `SELECT coalesce(sum(`+most+`), 0)::BIGINT FROM (SELECT max(n) AS n FROM (
SELECT experiment_id, metric, count(*) AS n FROM function_trends WHERE mode = ? AND metric IN (`+queries.Quote(metrics...)+`) GROUP BY ALL) GROUP BY experiment_id)`, mode).Scan(&rows)
	if err != nil {
		return err
	}
	row := len(`{"experiment_id":"0123456789abcdef","experiment":"","mode":"user","function_id":"","function":"","load_object":"","module":"","kind":""}`)
	for _, m := range metrics {
		row += 2 * len(`,"exclusive.":0`+m)
	}
	if rows > w.out.Most/int64(row) {
		return &failure{http.StatusRequestEntityTooLarge, fmt.Errorf("the functions of %d experiments are %d rows, more than the limit of %d bytes (choose fewer experiments or a smaller limit; in SQL, function_totals has sums over experiments)", db.Count, rows, w.out.Most)}
	}
	return nil
}

// askByName asks for all metrics that are the default of some experiment, by their names: then every experiment that
// has such a metric shows it, even if its own default is another one.
func askByName(ctx context.Context, db *queries.DB, r report.Request) (*report.Question, error) {
	q, err := report.Ask(ctx, db, &r)
	if err != nil || r.Metric != "" || len(q.Metrics()) == 0 {
		return q, err
	}
	emptied := q.Emptied
	r.Metric = strings.Join(q.Metrics(), ",")
	q, err = report.Ask(ctx, db, &r)
	if err == nil {
		q.Emptied = emptied
	}
	return q, err
}

// wideFunctions returns SQL with one row for each function of each experiment.
func wideFunctions(q *report.Question, sort, search string, limit int) (string, error) {
	values, order := []string{}, "false"
	for i, m := range q.Metrics() {
		for _, c := range []string{"exclusive", "inclusive"} {
			name := c + "." + m
			values = append(values, fmt.Sprintf(`CASE WHEN experiment_id IN (SELECT experiment_id FROM metrics WHERE metric = %s) THEN COALESCE(any_value(%s) FILTER (metric = %s), 0) END AS %s`,
				queries.Quote(m), c, queries.Quote(m), quoted(name)))
			if sort == name || i == 0 && c == cmp.Or(sort, "exclusive") {
				order = quoted(name) + " DESC NULLS LAST"
			}
		}
	}
	if sort != "" && order == "false" {
		return "", fmt.Errorf("sort: no column %q (use exclusive or inclusive, or exclusive.METRIC or inclusive.METRIC of a metric shown)", sort)
	}
	const total = `("function" = '<Total>' AND kind = 'artificial')`
	found := "true"
	if search != "" {
		text := queries.Quote(strings.ToLower(search))
		found = fmt.Sprintf(`(contains(lower("function"), %s) OR contains(lower(load_object), %s) OR contains(lower(module), %s))`, text, text, text)
	}
	order = total + " DESC, " + order + `, "function", load_object, function_id`
	statement := fmt.Sprintf(`WITH long AS (%s),
wide AS (SELECT experiment_id, any_value(experiment) AS experiment, any_value(mode) AS mode, function_id, any_value("function") AS "function",
  any_value(load_object) AS load_object, any_value(module) AS module, any_value(kind) AS kind%s FROM long GROUP BY experiment_id, function_id)
FROM wide WHERE %s OR %s`, q.Statement(), strings.Join(slices.Insert(values, 0, ""), ",\n  "), total, found)
	if limit > 0 {
		statement += fmt.Sprintf("\nQUALIFY row_number() OVER (PARTITION BY experiment_id ORDER BY %s) <= %d", order, limit+1)
	}
	return statement + "\nORDER BY experiment, experiment_id, " + order, nil
}

// quoted returns the name of a column as a quoted SQL identifier.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
