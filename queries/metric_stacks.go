package queries

import (
	"fmt"
	"strings"
)

// metricColumn is a column with the sum of one metric.
type metricColumn struct{ name, metric string }

// metricStacks are the columns of a view with a row for each stack: sums of the metrics of one kind
// of calls.
type metricStacks []metricColumn

// query is the view's query.
func (columns metricStacks) query() string {
	return columns.over(`
  SELECT experiment_id, stack_id, "position", 0 AS level, function_id FROM frames JOIN (SELECT DISTINCT experiment_id, stack_id FROM sums) USING (experiment_id, stack_id)`)
}

// inlined is the query with inlined functions as functions of their own (S10).
func (columns metricStacks) inlined() string {
	return columns.over(`
  SELECT s.experiment_id, s.stack_id, s."position", l.level, l.function_id
  FROM (FROM frames JOIN (SELECT DISTINCT experiment_id, stack_id FROM sums) USING (experiment_id, stack_id)) s JOIN location_levels l USING (experiment_id, location_id)`)
}

// over is the query with the stacks' texts made of the functions that another query finds on the
// stacks.
func (columns metricStacks) over(passed string) string {
	var sums, shown, metrics []string
	for _, c := range columns {
		sums = append(sums, fmt.Sprintf("sum(v.value) FILTER (v.metric = %s) AS %s", quote(c.metric), c.name))
		shown = append(shown, fmt.Sprintf("COALESCE(s.%s, 0)::BIGINT AS %[1]s", c.name))
		metrics = append(metrics, quote(c.metric))
	}
	return `WITH
-- A filter by experiment reaches the frames through inner joins only, and no scan that has
-- a condition on the metric: sums are read twice.
sums AS (
  SELECT s.experiment_id, s.mode, s.stack_id,
    ` + strings.Join(sums, ",\n    ") + `
  FROM (FROM stack_values JOIN (VALUES (` + strings.Join(metrics, "), (") + `)) shown(metric) USING (metric)) v
  JOIN mode_stacks s USING (experiment_id, stack)
  GROUP BY ALL
),
passed AS (` + passed + `
),
texts AS (
  SELECT p.experiment_id, p.stack_id, string_agg(replace(f.name, ';', ':'), ';' ORDER BY p."position" DESC, p.level) AS stack
  FROM passed p JOIN functions f USING (experiment_id, function_id) GROUP BY ALL
)
SELECT s.experiment_id, n.experiment, s.mode, COALESCE(t.stack, '<Total>') AS stack,
  ` + strings.Join(shown, ",\n  ") + `, s.stack_id
FROM sums s LEFT JOIN texts t USING (experiment_id, stack_id) LEFT JOIN experiment_names n USING (experiment_id)`
}

var (
	heapStacks = metricStacks{{"allocations", "heapalloccnt"}, {"allocated_bytes", "heapallocbytes"},
		{"leaks", "heapleakcnt"}, {"leaked_bytes", "heapleakbytes"}}
	ioStacks = metricStacks{{"reads", "ioreadcnt"}, {"read_bytes", "ioreadbytes"}, {"read_ns", "ioreadtime"},
		{"writes", "iowritecnt"}, {"written_bytes", "iowritebytes"}, {"write_ns", "iowritetime"},
		{"others", "ioothercnt"}, {"other_ns", "ioothertime"}, {"errors", "ioerrorcnt"}, {"error_ns", "ioerrortime"}}
)
