package queries

import (
	"fmt"

	"stackmill/schema"
)

// rangeView generates a view of values by ranges of an amount that samples of some kinds have.
// Other kinds have 0 of it.
type rangeView struct {
	ranges string // the view with the ranges
	column string // its column with their names
	of     string // the column of spans with the amount
	spans  string // the query of the samples' amounts
	kinds  []schema.Kind
}

// query is the view's query.
func (r rangeView) query() string {
	var metrics, kinds []string
	for _, k := range r.kinds {
		kinds = append(kinds, k.String())
		for _, m := range schema.Declared {
			if m.Kind == k {
				metrics = append(metrics, m.Name)
			}
		}
	}
	return fmt.Sprintf(`WITH spans AS (
  %[4]s
),
traced AS (
  SELECT v.experiment_id, v.metric, s.%[3]s, sum(v.value)::BIGINT AS value, count(*) AS samples
  FROM spans s JOIN sample_metrics v USING (experiment_id, sample)
  WHERE v.metric IN (%[5]s)
  GROUP BY ALL
),
sums AS (
  SELECT s.experiment_id, s.metric, COALESCE(r.%[2]s, '<Unknown>') AS %[2]s, r.above, r.upto, sum(s.value)::BIGINT AS value, sum(s.samples)::BIGINT AS samples
  FROM traced s LEFT JOIN %[1]s r ON s.%[3]s > r.above AND s.%[3]s <= r.upto
  GROUP BY ALL
  UNION ALL
  SELECT v.experiment_id, v.metric, r.%[2]s, r.above, r.upto, sum(v.value)::BIGINT, sum(v.samples)::BIGINT
  FROM stack_values v JOIN metrics k USING (experiment_id, metric) JOIN %[1]s r ON r.upto = 0
  WHERE k.kind NOT IN (%[6]s)
  GROUP BY ALL
)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit, v.%[2]s, v.above, v.upto, sum(v.value)::BIGINT AS value, sum(v.samples)::BIGINT AS samples
FROM sums v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
GROUP BY ALL`, r.ranges, r.column, r.of, r.spans, Quote(metrics...), Quote(kinds...))
}

var (
	sizes = rangeView{"byte_ranges", "size_range", "bytes", `SELECT experiment_id, sample, size AS bytes FROM heap_samples
  UNION ALL
  SELECT experiment_id, sample, bytes FROM io_samples`, []schema.Kind{schema.Heap, schema.IO}}
	durations = rangeView{"duration_ranges", "duration_range", "ns", `SELECT experiment_id, sample, ended_ns - allocated_ns AS ns FROM heap_blocks
  UNION ALL
  SELECT experiment_id, sample, greatest(duration_ns, 0) FROM io_samples
  UNION ALL
  SELECT experiment_id, sample, greatest(duration_ns, 0) FROM sync_samples`, []schema.Kind{schema.Heap, schema.IO, schema.Sync}}
)
