package queries

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackmill/schema"
)

// sampleMetrics returns the query of the view sample_metrics: a branch for each declared metric,
// and for each kind of samples that name their metrics. Each branch joins its one row of `metrics`,
// so that a metric that no experiment has costs no scan. Unless the session's metrics are known,
// each still has to be planned.
func sampleMetrics(known func(kind schema.Kind, metric string) bool) string {
	var branches []string
	for _, m := range schema.Declared {
		if known(m.Kind, m.Name) {
			branches = append(branches, metricBranch(m))
		}
	}
	for _, of := range selfNamedMetrics {
		if known(of.kind, "") {
			branches = append(branches, of.branches...)
		}
	}
	if branches == nil {
		branches = []string{"SELECT experiment_id, NULL::INTEGER AS sample, metric, NULL::BIGINT AS value FROM known WHERE false"}
	}
	return "WITH known AS MATERIALIZED (SELECT experiment_id, metric FROM metrics)\n" + strings.Join(branches, "\nUNION ALL\n")
}

// allMetrics is the query of the view for any store.
func allMetrics() string { return sampleMetrics(func(schema.Kind, string) bool { return true }) }

var selfNamedMetrics = []struct {
	kind     schema.Kind
	branches []string
}{
	{schema.HWC, []string{`SELECT experiment_id, sample, counter AS metric, value
FROM hwc_samples SEMI JOIN known m ON m.experiment_id = hwc_samples.experiment_id AND m.metric = hwc_samples.counter
WHERE value <> 0`}},
	{schema.Pprof, []string{`SELECT experiment_id, sample, type AS metric, value
FROM pprof_samples SEMI JOIN known m ON m.experiment_id = pprof_samples.experiment_id AND m.metric = pprof_samples.type
WHERE value <> 0`}},
	{schema.Perf, []string{`SELECT experiment_id, sample, event AS metric, value
FROM perf_samples SEMI JOIN known m ON m.experiment_id = perf_samples.experiment_id AND m.metric = perf_samples.event
WHERE value <> 0`, `SELECT experiment_id, sample, event || '.samples' AS metric, 1::BIGINT AS value
FROM perf_samples SEMI JOIN known m ON m.experiment_id = perf_samples.experiment_id AND m.metric = perf_samples.event || '.samples'`}},
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

// metricValue returns SQL for a sample's value of a metric, and the condition under which the
// sample counts.
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

// joinThread joins the thread of a sample if the metric depends on it.
func joinThread(m schema.Metric) string {
	if !dependsOnThread(m) {
		return ""
	}
	return " JOIN samples s ON s.experiment_id = k.experiment_id AND s.sample = k.sample"
}

// stackSums is the query of sums by stack and metric of the samples in the table passed. The
// samples of a kind are joined and grouped once for all metrics: one metric after the other, as in
// sample_metrics, takes several times as long.
func stackSums(known func(kind schema.Kind, metric string) bool, passed string) string {
	parts := []string{"known AS MATERIALIZED (SELECT experiment_id, metric FROM metrics)"}
	sums := []string{"SELECT experiment_id, NULL::INTEGER AS stack, metric, NULL::BIGINT AS value, NULL::BIGINT AS samples FROM known WHERE false"}
	for kind := range schema.Kinds {
		if !known(kind, "") {
			continue
		}
		columns, joins, prefix := "k.experiment_id, p.stack", "", ""
		var metrics []schema.Metric
		if t := kind.Traits(); t.Source != "" {
			columns, prefix, metrics = columns+", k."+t.Source+" AS source", "source || ", t.Metrics("", "", "")
		} else {
			metrics = slices.DeleteFunc(slices.Clone(schema.Declared), func(m schema.Metric) bool { return m.Kind != kind || !known(kind, m.Name) })
		}
		for i, m := range metrics {
			value, condition := metricValue(m)
			columns += fmt.Sprintf(",\n  sum(%[1]s) FILTER (WHERE %[2]s)::BIGINT AS value_%[3]d, count(*) FILTER (WHERE %[2]s) AS samples_%[3]d", value, cmp.Or(condition, "true"), i)
			joins = cmp.Or(joins, joinThread(m))
			sums = append(sums, fmt.Sprintf("SELECT experiment_id, stack, m.metric, value_%[1]d, samples_%[1]d FROM of_%[2]s JOIN known m USING (experiment_id) WHERE m.metric = %[3]s AND samples_%[1]d > 0", i, kind, prefix+quote(m.Name)))
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
