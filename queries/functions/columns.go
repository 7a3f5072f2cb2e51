package functions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stackmill/queries"
	"stackmill/queries/report"
)

// quantiles are the runs of a table with more than mostRuns experiments: the first columns of report.Spread.
var quantiles = []string{"lowest", "median", "highest"}

// nightsShown is the largest number of nights in a row's history.
const nightsShown = 30

func newRunValues(n int) *RunValues { return &RunValues{make([]float64, n), make([]float64, n)} }

// chooseRuns chooses the runs: the experiments that have the metric, oldest first, or quantiles over them.
func (t *Table) chooseRuns(ctx context.Context, db *queries.DB, m *Measure) error {
	if t.Metrics[0].Experiments > mostRuns {
		t.Spread = true
		totals := make([]float64, len(quantiles))
		targets := []any{&totals[0], &totals[1], &totals[2]}
		err := db.QueryRowContext(ctx, `SELECT COALESCE(value_min, 0)::DOUBLE, COALESCE(value_median, 0)::DOUBLE, COALESCE(value_max, 0)::DOUBLE FROM (SELECT `+
			strings.Join(report.SpreadColumns("value", "value"), ", ")+` FROM (SELECT inclusive AS value FROM function_rollup s WHERE `+m.shown("s")+` AND `+isTotal+`) e CROSS JOIN `+t.members()+`)`).Scan(targets...)
		for i, label := range quantiles {
			t.Runs = append(t.Runs, Run{Label: label, Total: totals[i]})
		}
		return err
	}
	records, err := db.Records(ctx, `SELECT e.experiment_id, e.experiment, e.started::TIMESTAMP AS started, COALESCE(sum(v.inclusive), 0)::BIGINT AS total
FROM experiments e JOIN metrics m ON m.experiment_id = e.experiment_id AND m.metric = `+queries.Quote(m.Metric)+`
LEFT JOIN (FROM function_rollup s WHERE `+m.shown("s")+` AND `+isTotal+`) v ON v.experiment_id = e.experiment_id
GROUP BY ALL ORDER BY started NULLS FIRST, e.experiment`)
	for _, r := range records {
		run := Run{Label: r.Text("experiment"), Total: float64(r.Number("total")), id: r.Text("experiment_id")}
		if at, ok := r["started"].(time.Time); ok {
			text := at.UTC().Format(time.RFC3339)
			run.Started = &text
		}
		t.Runs = append(t.Runs, run)
	}
	return err
}

// members returns a table in SQL with the number of experiments, as report.SpreadColumns needs it.
func (t *Table) members() string { return fmt.Sprintf("(SELECT %d AS n) n", t.Metrics[0].Experiments) }

// addColumns adds values that are read for the rows of the answer only.
func (t *Table) addColumns(ctx context.Context, db *queries.DB, r *TableRequest) error {
	if t.Group != "function" || len(t.Rows) == 0 {
		return nil
	}
	if r.Runs && t.Rows[0].Runs == nil {
		if err := t.addRuns(ctx, db, r, t.Rows); err != nil {
			return err
		}
	}
	if slices.Contains(r.Extras, "size") {
		if err := t.addSizes(ctx, db, r); err != nil {
			return err
		}
	}
	if slices.Contains(r.Extras, "history") {
		return t.addHistory(ctx, db, r)
	}
	return nil
}

// byKey returns the rows by key, and the keys for SQL.
func byKey(rows []Row) (at map[string]*Row, keys string) {
	at = make(map[string]*Row, len(rows))
	list := make([]string, len(rows))
	for i := range rows {
		at[rows[i].key], list[i] = &rows[i], rows[i].key
	}
	return at, strings.Join(list, ", ")
}

// keysListed is the largest number of keys for which SQL lists them; for more, it reads all functions.
const keysListed = 2000

// ofRows returns the SQL condition for rows of function_rollup that belong to the rows.
func ofRows(r *TableRequest, rows []Row, keys string) string {
	condition := r.Metrics[0].shown("s") + " AND NOT (" + isTotal + ")"
	if len(rows) <= keysListed {
		condition += " AND function_key IN (" + keys + ")"
	}
	return condition
}

// addRuns adds the values of the runs to rows of functions; rows of other things have them already.
func (t *Table) addRuns(ctx context.Context, db *queries.DB, r *TableRequest, rows []Row) error {
	if t.Group != "function" || len(rows) == 0 {
		return nil
	}
	for i := range rows {
		rows[i].Runs = newRunValues(len(t.Runs))
	}
	at, keys := byKey(rows)
	columns := ""
	for i, run := range t.Runs {
		for _, c := range []string{"exclusive", "inclusive"} {
			if t.Spread {
				columns += fmt.Sprintf(", COALESCE(%s, 0)::DOUBLE", report.SpreadOf(c, report.Spread[i]))
			} else {
				columns += fmt.Sprintf(", COALESCE(sum(%s) FILTER (experiment_id = %s), 0)::DOUBLE", c, queries.Quote(run.id))
			}
		}
	}
	statement := "SELECT function_key::VARCHAR" + columns + " FROM function_rollup s WHERE " + ofRows(r, rows, keys) + " GROUP BY function_key"
	if t.Spread {
		statement = "SELECT function_key::VARCHAR" + columns + " FROM (SELECT function_key, " + strings.Join(append(report.SpreadColumns("exclusive", "exclusive"), report.SpreadColumns("inclusive", "inclusive")...), ", ") +
			" FROM (FROM function_rollup s WHERE " + ofRows(r, rows, keys) + ") e CROSS JOIN " + t.members() + " GROUP BY function_key)"
	}
	found, err := db.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer found.Close()
	var key string
	values := newRunValues(len(t.Runs))
	targets := []any{&key}
	for i := range t.Runs {
		targets = append(targets, &values.Exclusive[i], &values.Inclusive[i])
	}
	for found.Next() {
		if err := found.Scan(targets...); err != nil {
			return err
		}
		if row := at[key]; row != nil {
			copy(row.Runs.Exclusive, values.Exclusive)
			copy(row.Runs.Inclusive, values.Inclusive)
		}
	}
	return found.Err()
}

// addSizes adds the sizes of functions.
func (t *Table) addSizes(ctx context.Context, db *queries.DB, r *TableRequest) error {
	at, keys := byKey(t.Rows)
	records, err := db.Records(ctx, `SELECT s.function_key::VARCHAR AS key, max(f.size)::BIGINT AS size
FROM (SELECT DISTINCT experiment_id, function_id, function_key FROM function_rollup s WHERE `+ofRows(r, t.Rows, keys)+`) s JOIN functions f USING (experiment_id, function_id) GROUP BY ALL`)
	for _, record := range records {
		if row := at[record.Text("key")]; row != nil {
			row.Size = record.Number("size")
		}
	}
	return err
}

// addHistory adds the mean values of the runs of each of the newest nights.
func (t *Table) addHistory(ctx context.Context, db *queries.DB, r *TableRequest) error {
	nights := `WITH runs AS MATERIALIZED (
  SELECT e.experiment_id, e.started::DATE::VARCHAR AS night FROM experiments e JOIN metrics m ON m.experiment_id = e.experiment_id AND m.metric = ` + queries.Quote(r.Metrics[0].Metric) + ` WHERE e.started IS NOT NULL
), nights AS MATERIALIZED (
  SELECT night, count(*) AS n FROM runs GROUP BY ALL ORDER BY night DESC LIMIT ` + fmt.Sprint(nightsShown) + `
) `
	known, err := db.Texts(ctx, nights+"SELECT night FROM nights ORDER BY night")
	if err != nil || len(known) == 0 {
		return err
	}
	t.Nights = known
	for i := range t.Rows {
		t.Rows[i].History = make([]float64, len(known))
	}
	at, keys := byKey(t.Rows)
	records, err := db.Records(ctx, nights+`SELECT s.function_key::VARCHAR AS key, n.night, sum(s.exclusive)::DOUBLE / any_value(n.n) AS value
FROM function_rollup s JOIN runs USING (experiment_id) JOIN nights n USING (night) WHERE `+ofRows(r, t.Rows, keys)+` GROUP BY ALL`)
	for _, record := range records {
		row, i := at[record.Text("key")], slices.Index(known, record.Text("night"))
		if value, ok := record["value"].(float64); ok && row != nil && i >= 0 {
			row.History[i] = value
		}
	}
	return err
}
