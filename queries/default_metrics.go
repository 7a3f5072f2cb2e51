package queries

import (
	"fmt"
	"strings"

	"stackmill/schema"
)

// defaultMetrics returns the query of the view default_metrics: first the metric that the recording
// prefers, then metrics in the order of their declaration, then counters and events by name.
// filtered, if not empty, is the table of stack values that a filter leaves: metrics without any
// come last.
func defaultMetrics(filtered string) string {
	var ranks []string
	for i, m := range schema.Declared {
		ranks = append(ranks, fmt.Sprintf("(%s, %d)", quote(m.Name), i))
	}
	first, join := "", ""
	if filtered != "" {
		first, join = "v.metric IS NULL, ", " LEFT JOIN (SELECT DISTINCT experiment_id, metric FROM "+filtered+" WHERE value <> 0) v ON v.experiment_id = m.experiment_id AND v.metric = m.metric"
	}
	return `WITH ranked AS (
  SELECT m.experiment_id, m.metric, m.data_objects, row_number() OVER (PARTITION BY m.experiment_id ORDER BY ` + first + `m.preferred DESC, r.rank NULLS LAST, m.metric) AS rank
  FROM metrics m LEFT JOIN (VALUES ` + strings.Join(ranks, ", ") + `) r(metric, rank) ON r.metric = m.metric` + join + `
)
SELECT experiment_id, arg_min(metric, rank) AS metric, arg_min(metric, rank) FILTER (data_objects) AS data_metric
FROM ranked GROUP BY experiment_id`
}

// defaultMetricsOfStore is the query of the view without a filter.
func defaultMetricsOfStore() string { return defaultMetrics("") }
