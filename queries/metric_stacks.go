package queries

import (
	"fmt"
	"strings"
)

// metricColumn is a column of sums of one metric.
type metricColumn struct{ name, metric string }

// metricStacks is the query of a view with a row for each stack, whose columns are sums of
// metrics that one kind of calls makes.
func metricStacks(columns ...metricColumn) func() string {
	return func() string {
		var sums, shown, metrics []string
		for _, c := range columns {
			sums = append(sums, fmt.Sprintf("sum(value) FILTER (metric = %s) AS %s", quote(c.metric), c.name))
			shown = append(shown, fmt.Sprintf("COALESCE(s.%s, 0)::BIGINT AS %[1]s", c.name))
			metrics = append(metrics, c.metric)
		}
		return `WITH
-- A filter by experiment reaches the frames through inner joins only.
sums AS (
  SELECT experiment_id, experiment, mode, stack_id,
    ` + strings.Join(sums, ",\n    ") + `
  FROM stack_metrics WHERE metric IN (` + Quote(metrics...) + `)
  GROUP BY ALL
),
passed AS (
  SELECT experiment_id, stack_id, "position", function_id FROM frames JOIN (SELECT DISTINCT experiment_id, stack_id FROM sums) USING (experiment_id, stack_id)
),
texts AS (
  SELECT p.experiment_id, p.stack_id, string_agg(replace(f.name, ';', ':'), ';' ORDER BY p."position" DESC) AS stack
  FROM passed p JOIN functions f USING (experiment_id, function_id) GROUP BY ALL
)
SELECT s.experiment_id, s.experiment, s.mode, COALESCE(t.stack, '<Total>') AS stack,
  ` + strings.Join(shown, ",\n  ") + `, s.stack_id
FROM sums s LEFT JOIN texts t USING (experiment_id, stack_id)`
	}
}

var (
	heapStacks = metricStacks(metricColumn{"allocations", "heapalloccnt"}, metricColumn{"allocated_bytes", "heapallocbytes"},
		metricColumn{"leaks", "heapleakcnt"}, metricColumn{"leaked_bytes", "heapleakbytes"})
	ioStacks = metricStacks(metricColumn{"reads", "ioreadcnt"}, metricColumn{"read_bytes", "ioreadbytes"}, metricColumn{"read_ns", "ioreadtime"},
		metricColumn{"writes", "iowritecnt"}, metricColumn{"written_bytes", "iowritebytes"}, metricColumn{"write_ns", "iowritetime"},
		metricColumn{"others", "ioothercnt"}, metricColumn{"other_ns", "ioothertime"}, metricColumn{"errors", "ioerrorcnt"}, metricColumn{"error_ns", "ioerrortime"})
)
