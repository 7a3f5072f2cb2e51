package queries

import (
	"fmt"
	"strings"

	"stackmill/schema"
)

// sampleMetrics derives the query of the view sample_metrics from the declared metrics and
// the kinds of samples that name their metrics themselves. Each branch joins with its one
// row of `metrics`, so that a metric that no experiment has costs no scan; but it is
// planned, unless the kinds and metrics that there are, are known.
func sampleMetrics(known func(kind schema.Kind, metric string) bool) string {
	var branches []string
	for _, m := range schema.Declared {
		if known(m.Kind, m.Name) {
			branches = append(branches, metricBranch(m))
		}
	}
	for _, of := range namedBySamples {
		if known(of.kind, "") {
			branches = append(branches, of.branches...)
		}
	}
	if branches == nil {
		branches = []string{"SELECT experiment_id, NULL::INTEGER AS sample, metric, NULL::BIGINT AS value FROM known WHERE false"}
	}
	return "WITH known AS MATERIALIZED (SELECT experiment_id, metric FROM metrics)\n" + strings.Join(branches, "\nUNION ALL\n")
}

// allMetrics is a query of the view for every store.
func allMetrics() string { return sampleMetrics(func(schema.Kind, string) bool { return true }) }

var namedBySamples = []struct {
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
	value := "1::BIGINT"
	conds := []string{}
	if m.Value != "" {
		value = "k." + m.Value
		conds = append(conds, value+" <> 0")
	}
	from := fmt.Sprintf("%s k JOIN known m ON m.experiment_id = k.experiment_id AND m.metric = '%s'", schema.SampleTable(m.Kind).Name, m.Name)
	if ofThread(m) {
		from += " JOIN samples_numbered_rows() s ON s.experiment_id = k.experiment_id AND s.sample = k.sample"
	}
	if where := anyOf(m.Where); where != "" {
		conds = append(conds, where)
	}
	sql := fmt.Sprintf("SELECT k.experiment_id, k.sample, '%s' AS metric, %s AS value\nFROM %s", m.Name, value, from)
	if len(conds) > 0 {
		sql += "\nWHERE " + strings.Join(conds, " AND ")
	}
	return sql
}

func anyOf(where []schema.All) string {
	var alls []string
	for _, all := range where {
		var conds []string
		for _, c := range all {
			conds = append(conds, condition(c))
		}
		alls = append(alls, "("+strings.Join(conds, " AND ")+")")
	}
	if len(alls) == 0 {
		return ""
	}
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

func ofThread(m schema.Metric) bool {
	for _, all := range m.Where {
		for _, c := range all {
			if c.Column == "thread_id" {
				return true
			}
		}
	}
	return false
}
