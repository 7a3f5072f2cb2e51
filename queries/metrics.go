package queries

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"stackmill/schema"
)

// Metric is a metric of the experiments of a session.
type Metric struct {
	Name        string
	Unit        string   // its unit in the first experiment that has the metric
	Experiments []string // ids of the experiments that have the metric
	DefaultOf   int      // number of experiments whose default metric it is
}

// metrics caches the metrics of a session.
type metrics struct {
	mu    sync.Mutex
	known []Metric // nil until they are read
}

// Metrics returns the metrics of a session's experiments. Metrics that most experiments show by
// default come first, then those that most experiments have, then the others in the order of
// declaration. It reads them once per session, because each batch has them in a file of its own.
func (db *DB) Metrics(ctx context.Context) ([]Metric, error) {
	db.metrics.mu.Lock()
	defer db.metrics.mu.Unlock()
	if db.metrics.known != nil {
		return db.metrics.known, nil
	}
	records, err := db.Records(ctx, `SELECT m.metric, arg_min(m.unit, m.experiment_id) AS unit, list(m.experiment_id ORDER BY m.experiment_id) AS ids, count(*) FILTER (m.metric = d.metric) AS default_of
FROM metrics m LEFT JOIN default_metrics d USING (experiment_id) GROUP BY m.metric`)
	if err != nil {
		return nil, err
	}
	all := make([]Metric, len(records))
	for i, r := range records {
		m := &all[i]
		m.Name, m.Unit, m.DefaultOf = r.Text("metric"), r.Text("unit"), int(r.Number("default_of"))
		ids, _ := r["ids"].([]any)
		for _, id := range ids {
			text, _ := id.(string)
			m.Experiments = append(m.Experiments, text)
		}
	}
	slices.SortFunc(all, func(a, b Metric) int {
		return cmp.Or(cmp.Compare(b.DefaultOf, a.DefaultOf), cmp.Compare(len(b.Experiments), len(a.Experiments)), schema.CompareMetrics(a.Name, b.Name))
	})
	db.metrics.known = all
	return all, nil
}
