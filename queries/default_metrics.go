package queries

import (
	"fmt"
	"strings"

	"stackmill/schema"
)

// defaultMetrics derives the query of the view default_metrics: what the recording prefers
// comes first, then metrics in the order in which they are declared, then those of counters
// and events, by name. If a table of the values that a filter leaves is named, metrics of
// which there are some come before the others.
func defaultMetrics(left string) string {
	ranks := make([]string, len(schema.Declared))
	for i, m := range schema.Declared {
		ranks[i] = fmt.Sprintf("(%s, %d)", quote(m.Name), i)
	}
	first, join := "", ""
	if left != "" {
		first, join = "v.metric IS NULL, ", " LEFT JOIN (SELECT DISTINCT experiment_id, metric FROM "+left+" WHERE value <> 0) v ON v.experiment_id = m.experiment_id AND v.metric = m.metric"
	}
	return `WITH ranked AS (
  SELECT m.experiment_id, m.metric, m.data_objects, row_number() OVER (PARTITION BY m.experiment_id ORDER BY ` + first + `m.preferred DESC, r.rank NULLS LAST, m.metric) AS rank
  FROM metrics m LEFT JOIN (VALUES ` + strings.Join(ranks, ", ") + `) r(metric, rank) ON r.metric = m.metric` + join + `
)
SELECT experiment_id, arg_min(metric, rank) AS metric, arg_min(metric, rank) FILTER (data_objects) AS data_metric
FROM ranked GROUP BY experiment_id`
}

// usualMetrics is the query of the view for every store.
func usualMetrics() string { return defaultMetrics("") }
