package queries

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackmill/schema"
)

// sampleMetrics returns the query of the view sample_metrics. It has a branch for each declared
// metric, and for each kind of samples whose metrics are named in the recording. Each branch joins
// its one row of `metrics`, so that a metric that no experiment has costs no scan. It still costs
// planning, so branches of metrics that are not known are left out.
func sampleMetrics(known func(kind schema.Kind, metric string) bool) string {
	var branches []string
	for _, m := range schema.Declared {
		for part := &m; part != nil && known(m.Kind, m.Name); part = part.Also {
			branches = append(branches, metricBranch(*part))
		}
	}
	for _, kind := range []schema.Kind{schema.HWC, schema.Pprof, schema.Perf} { // their samples name their metrics
		for _, m := range kind.Traits().Metrics("", "", "") {
			metric, value, where := kind.Traits().Source, "1::BIGINT AS value", ""
			if m.Name != "" {
				metric += " || " + quote(m.Name)
			}
			if m.Value != "" {
				value, where = m.Value, "\nWHERE "+m.Value+" <> 0"
			}
			if known(kind, "") {
				branches = append(branches, fmt.Sprintf("SELECT experiment_id, sample, %[1]s AS metric, %[2]s\nFROM %[3]s SEMI JOIN known m ON m.experiment_id = %[3]s.experiment_id AND m.metric = %[3]s.%[1]s%[4]s",
					metric, value, schema.SampleTable(kind).Name, where))
			}
		}
	}
	if branches == nil {
		branches = []string{"SELECT experiment_id, NULL::INTEGER AS sample, metric, NULL::BIGINT AS value FROM known WHERE false"}
	}
	return "WITH known AS MATERIALIZED (SELECT experiment_id, metric FROM metrics)\n" + strings.Join(branches, "\nUNION ALL\n")
}

func metricBranch(m schema.Metric) string {
	value, condition := metricValue(m)
	sql := fmt.Sprintf("SELECT k.experiment_id, k.sample, '%s' AS metric, %s AS value\nFROM %s k JOIN known m ON m.experiment_id = k.experiment_id AND m.metric = '%s'%s",
		m.Name, value, schema.SampleTable(m.Kind).Name, m.Name, joinThread(m))
	if condition != "" {
		sql += "\nWHERE " + condition
	}
	return sql
}

// metricValue returns SQL for the value of a sample in a metric, and for whether the sample counts.
func metricValue(m schema.Metric) (value, condition string) {
	value = "1::BIGINT"
	var conds []string
	if m.Value != "" {
		value = "k." + m.Value
		conds = append(conds, value+" <> 0")
	}
	if where := anyOf(m.Where); where != "" {
		conds = append(conds, where)
	}
	return value, strings.Join(conds, " AND ")
}

// joinThread returns the join that gives a sample its thread, if the metric depends on that; else
// "".
func joinThread(m schema.Metric) string {
	if !dependsOnThread(m) {
		return ""
	}
	return " JOIN samples s ON s.experiment_id = k.experiment_id AND s.sample = k.sample"
}

// stackSums is a query for sums, by stack and metric, of the samples in the table passed. It joins
// and groups the samples of a kind once for all metrics: doing so for each metric, as
// sample_metrics does, takes several times as long.
func stackSums(known func(kind schema.Kind, metric string) bool, passed string) string {
	parts := []string{"known AS MATERIALIZED (SELECT experiment_id, metric FROM metrics)"}
	sums := []string{"SELECT experiment_id, NULL::INTEGER AS stack, metric, NULL::BIGINT AS value, NULL::BIGINT AS samples FROM known WHERE false"}
	for kind := range schema.Kinds {
		if !known(kind, "") {
			continue
		}
		columns, joins := "k.experiment_id, p.stack", ""
		var metrics []schema.Metric
		var names []string // SQL
		if t := kind.Traits(); t.Source != "" {
			columns, metrics = columns+", k."+t.Source+" AS source", t.Metrics("", "", "")
			names = mapped(metrics, func(m schema.Metric) string { return "source || " + quote(m.Name) })
		}
		for _, m := range schema.Declared {
			if part := m.Of(kind); part != nil && known(m.Kind, m.Name) {
				metrics, names = append(metrics, *part), append(names, quote(m.Name))
			}
		}
		for i, m := range metrics {
			value, condition := metricValue(m)
			columns += fmt.Sprintf(",\n  sum(%[1]s) FILTER (WHERE %[2]s)::BIGINT AS value_%[3]d, count(*) FILTER (WHERE %[2]s) AS samples_%[3]d", value, cmp.Or(condition, "true"), i)
			joins = cmp.Or(joins, joinThread(m))
			sums = append(sums, fmt.Sprintf("SELECT experiment_id, stack, m.metric, value_%[1]d, samples_%[1]d FROM of_%[2]s JOIN known m USING (experiment_id) WHERE m.metric = %[3]s AND samples_%[1]d > 0", i, kind, names[i]))
		}
		parts = append(parts, fmt.Sprintf("of_%s AS MATERIALIZED (SELECT %s\n  FROM %s k JOIN %s p ON p.experiment_id = k.experiment_id AND p.sample = k.sample%s\n  GROUP BY ALL)", kind, columns, schema.SampleTable(kind).Name, passed, joins))
	}
	return "WITH " + strings.Join(parts, ",\n") + "\n" + strings.Join(sums, "\nUNION ALL\n")
}

func anyOf(where []schema.All) string {
	if len(where) == 0 {
		return ""
	}
	alls := mapped(where, func(all schema.All) string { return "(" + strings.Join(mapped(all, condition), " AND ") + ")" })
	return "(" + strings.Join(alls, " OR ") + ")"
}

func condition(c schema.Cond) string {
	table, op := "k", "IN"
	if c.Column == "thread_id" {
		table = "s"
	}
	if c.Not {
		op = "NOT IN"
	}
	values := strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Values), " ", ", "), "[]")
	return fmt.Sprintf("%s.%s %s (%s)", table, c.Column, op, values)
}

func dependsOnThread(m schema.Metric) bool {
	return slices.ContainsFunc(slices.Concat(m.Where...), func(c schema.Cond) bool { return c.Column == "thread_id" })
}

// defaultMetrics returns the query of the view default_metrics. It orders metrics: first the one
// that the recording prefers, then the declared ones in order, then the others by name. filtered,
// if not empty, is a table of the stack values that a filter leaves: metrics without values there
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

// metricColumn is a column with the sum of one metric.
type metricColumn struct{ name, metric string }

// metricStacks has the columns of a view with a row for each stack: each is the sum of a metric of
// one kind of calls, such as allocations.
type metricStacks []metricColumn

// query returns the SQL of the view.
func (columns metricStacks) query() string {
	return columns.over(`
  SELECT experiment_id, stack_id, "position", 0 AS level, function_id FROM frames JOIN (SELECT DISTINCT experiment_id, stack_id FROM sums) USING (experiment_id, stack_id)`)
}

// inlined returns the SQL of the view with inlined functions as frames of their own (S10).
func (columns metricStacks) inlined() string {
	return columns.over(`
  SELECT s.experiment_id, s.stack_id, s."position", l.level, l.function_id
  FROM (FROM frames JOIN (SELECT DISTINCT experiment_id, stack_id FROM sums) USING (experiment_id, stack_id)) s JOIN location_levels l USING (experiment_id, location_id)`)
}

// over is the query of the view. passed is a query for the functions on each stack, of which the
// text in the column stack consists.
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

// rangeView generates a view that divides values by an amount that samples have, such as bytes,
// into ranges. Samples of kinds without such an amount count as 0.
type rangeView struct {
	ranges string // the view with the ranges
	column string // the column of ranges with the names of the ranges
	of     string // the column of spans with the amount
	spans  string // the query of the samples' amounts
	kinds  []schema.Kind
}

// query returns the SQL of the view.
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
