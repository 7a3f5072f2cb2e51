package serve

import (
	"context"
	"slices"

	"stackmill/queries"
	"stackmill/queries/functions"
)

// mostNights limits the nights in the description of a selection: the newest ones.
const mostNights = 400

// The types of the description of a selection in JSON.
type (
	selectionJSON struct {
		Experiments int                  `json:"experiments"` // number of selected experiments
		Of          int                  `json:"of"`          // number of experiments in the store
		Lacking     int                  `json:"lacking"`     // number of selected experiments that lack the metric
		Metric      string               `json:"metric"`
		Unit        string               `json:"unit"`
		Value       functions.Value      `json:"value"` // of the samples that pass the filters, in the selected experiments
		Whole       functions.Value      `json:"whole"` // of all samples of the selected experiments
		Metrics     []selectedMetric     `json:"metrics"`
		Programs    []experimentsOfValue `json:"programs"` // of the whole store
		Nights      []experimentsOfValue `json:"nights"`   // of the selected experiments, the newest first
	}
	selectedMetric struct {
		Metric      string          `json:"metric"`
		Title       string          `json:"title"`
		Unit        string          `json:"unit"`
		Kind        string          `json:"kind"`
		Experiments int             `json:"experiments"` // number of selected experiments that have the metric
		Value       functions.Value `json:"value"`       // of all their samples
	}
	// experimentsOfValue is a value of experiments, such as a program, and the number of experiments that have it.
	experimentsOfValue struct {
		Name        string `json:"name"`
		Experiments int    `json:"experiments"`
	}
)

// describeSelection answers with what a selection contains: experiments, metrics with their sums, programs and nights.
func describeSelection(w *job) error {
	mode := w.mode()
	f, err := w.filter(mode, false)
	if err != nil {
		return err
	}
	store, doneStore, err := w.from.session(w.ctx, selection{})
	if err != nil {
		return err
	}
	defer doneStore()
	whole, doneWhole, err := w.open(queries.Filter{}, nil, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer doneWhole()
	s := selectionJSON{Experiments: whole.Count, Of: store.Count}
	if s.Programs, err = countExperiments(w.ctx, store, "coalesce(target, '')", "2 DESC, 1", 0); err != nil {
		return err
	}
	if s.Nights, err = countExperiments(w.ctx, whole, "coalesce(strftime(started, '%Y-%m-%d'), '')", "1 DESC", mostNights); err != nil {
		return err
	}
	if s.Metric, s.Unit, err = chooseMetric(w.ctx, whole, w.values.Get("metric")); err != nil {
		return err
	}
	if s.Metrics, err = sumMetrics(w.ctx, whole, mode); err != nil {
		return err
	}
	for _, m := range s.Metrics {
		if m.Metric == s.Metric {
			s.Lacking, s.Whole = s.Experiments-m.Experiments, m.Value
		}
	}
	s.Value = s.Whole
	if !f.IsEmpty() {
		if s.Value, err = filteredTotal(w, f, s.Metric, mode); err != nil {
			return err
		}
	}
	return w.writeJSON(s)
}

// filteredTotal returns the value of a metric's samples that pass a filter.
func filteredTotal(w *job, f queries.Filter, metric, mode string) (value functions.Value, err error) {
	db, done, err := w.from.session(w.ctx, selection{w.values["experiment"], f, []string{"function_trends"}})
	if err != nil {
		return 0, err
	}
	defer done()
	err = db.QueryRowContext(w.ctx, `SELECT coalesce(sum(inclusive), 0)::BIGINT FROM function_trends
WHERE mode = ? AND metric = ? AND "function" = '<Total>' AND kind = 'artificial'`, mode, metric).Scan(&value)
	return value, err
}

// sumMetrics returns the metrics of experiments with the sums of their samples. The metric that most experiments show
// by default comes first.
func sumMetrics(ctx context.Context, db *queries.DB, mode string) (list []selectedMetric, err error) {
	known, err := db.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT m.metric, any_value(m.title), any_value(m.kind), coalesce(sum(t.inclusive), 0)::BIGINT
FROM metrics m LEFT JOIN (FROM function_trends WHERE mode = ? AND "function" = '<Total>' AND kind = 'artificial') t USING (experiment_id, metric)
GROUP BY m.metric`, mode)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	sums := map[string]selectedMetric{}
	for rows.Next() {
		var m selectedMetric
		if err := rows.Scan(&m.Metric, &m.Title, &m.Kind, &m.Value); err != nil {
			return nil, err
		}
		sums[m.Metric] = m
	}
	list = make([]selectedMetric, len(known))
	for i, k := range known {
		list[i] = sums[k.Name]
		list[i].Metric, list[i].Unit, list[i].Experiments = k.Name, k.Unit, len(k.Experiments)
	}
	return list, rows.Err()
}

// countExperiments returns the values of an SQL expression over experiments, with the number of experiments that have
// each. If most is not 0, it returns at most that many.
func countExperiments(ctx context.Context, db *queries.DB, of, order string, most int) ([]experimentsOfValue, error) {
	rows, err := db.QueryContext(ctx, "SELECT "+of+", count(*) FROM experiments GROUP BY 1 ORDER BY "+order)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := []experimentsOfValue{}
	for rows.Next() {
		var v experimentsOfValue
		if err := rows.Scan(&v.Name, &v.Experiments); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if most > 0 && len(list) > most {
		list = slices.Clip(list[:most])
	}
	return list, rows.Err()
}
