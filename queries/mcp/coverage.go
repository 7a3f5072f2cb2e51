//go:build cgo

package mcp

import (
	"context"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/result"
)

// partition computes the share of the totals that a report's rows have.
type partition struct {
	*collector
	several bool // recordings or metrics
	keys    [][2]string
}

// drop reports whether to leave a column out: it is the same in each row, or for SQL only.
func (p *partition) drop(f result.Field) bool {
	switch f.Name {
	case "experiment", "metric", "unit":
		return !p.several
	case "experiment_id", "mode":
		return true
	}
	return false
}

// disjoint lists the views whose values add up to the total, besides those with exclusive values.
var disjoint = []string{"folded", "inline_folded", "thread_metrics", "thread_name_metrics", "cgroup_metrics", "cpu_metrics", "process_metrics", "timeline", "cpu_timeline", "second_metrics"}

// trees lists the views whose <Total> holds samples without other rows.
var trees = []string{"call_tree", "inline_call_tree", "stack_nodes"}

// each notes the share of a row that is shown.
func (p *partition) each(values []any) {
	at := func(name string) any {
		i := slices.IndexFunc(p.fields, func(f result.Field) bool { return f.Name == name })
		if i < 0 {
			return nil
		}
		return values[i]
	}
	id, _ := at("experiment_id").(string)
	metric, _ := at("metric").(string)
	if id == "" || metric == "" {
		return
	}
	key := [2]string{id, metric}
	if !slices.Contains(p.keys, key) {
		p.keys = append(p.keys, key)
	}
	column := "exclusive"
	if slices.Contains(disjoint, p.View) {
		column = "value"
	}
	value, adds := at(column).(int64)
	if !adds {
		return
	}
	if at("function") == "<Total>" && !slices.Contains(trees, p.View) { // the sum of the others
		value = 0
	}
	p.shares = append(p.shares, share{key, value})
}

// coverageReads lists the views that cover reads.
var coverageReads = []string{"function_metrics", "unattributed"}

// cover adds the totals of the metrics in the rows, and how much of them has no name.
func (p *partition) cover(ctx context.Context, db *queries.DB) error {
	if len(p.keys) == 0 {
		return nil
	}
	pairs := make([]string, len(p.keys))
	for i, k := range p.keys {
		pairs[i] = "(" + queries.Quote(k[:]...) + ")"
	}
	asked := "(" + strings.Join(pairs, ", ") + ")"
	totals, err := db.Records(ctx, `SELECT v.experiment_id, v.experiment, v.metric, v.unit, v.inclusive AS total
		FROM function_metrics v WHERE v.mode = `+queries.Quote(p.Mode)+` AND v.function = '<Total>' AND v.kind = 'artificial'
		AND (v.experiment_id, v.metric) IN `+asked+` ORDER BY v.experiment, v.metric`)
	if err != nil {
		return err
	}
	reasons, err := db.Records(ctx, `SELECT experiment_id, metric, reason, load_object, value FROM unattributed
		WHERE mode = `+queries.Quote(p.Mode)+` AND subject = '`+p.subject()+`' AND (experiment_id, metric) IN `+asked+` ORDER BY value DESC, reason, load_object`)
	if err != nil {
		return err
	}
	for _, t := range totals {
		c := &coverage{Experiment: t.Text("experiment"), Metric: t.Text("metric"), Unit: t.Text("unit"), total: t.Number("total"),
			key: [2]string{t.Text("experiment_id"), t.Text("metric")}}
		c.Total = result.Exact(c.total, "")
		c.unattributed(reasons)
		p.Coverage = append(p.Coverage, c)
	}
	return nil
}

// subject returns the kind of thing that the rows name.
func (p *partition) subject() string {
	if slices.ContainsFunc(p.fields, func(f result.Field) bool { return f.Name == "data_object_id" }) {
		return "data object"
	}
	return "function"
}

// unattributed adds the reasons for the part of the total without a name.
func (c *coverage) unattributed(reasons []queries.Record) {
	var sum int64
	for _, r := range reasons {
		if r.Text("experiment_id") != c.key[0] || r.Text("metric") != c.key[1] {
			continue
		}
		sum += r.Number("value")
		if len(c.Reasons) == maxReasons {
			c.ReasonsMore++
			continue
		}
		c.Reasons = append(c.Reasons, reason{terminal.Shorten(r.Text("reason"), maxName), terminal.Shorten(r.Text("load_object"), maxName), percentOf(r.Number("value"), c.total)})
	}
	c.Unattributed = percentOf(sum, c.total)
}
