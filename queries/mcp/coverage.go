//go:build cgo

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/result"
)

// partition collects a report's rows and computes their shares of the totals.
type partition struct {
	*collector
	several bool // the rows are of several recordings or metrics
	sum     bool // whether the rows are sums over recordings
	keys    [][2]string
}

// drop reports whether to omit a column: it has the same value in all rows, or is of use only in
// SQL.
func (p *partition) drop(f result.Field) bool {
	switch f.Name {
	case "experiment", "metric", "unit":
		return !p.several
	case "experiment_id", "mode":
		return true
	}
	return false
}

// disjoint lists views whose column value adds up to the total. In other views, exclusive does.
var disjoint = []string{"folded", "inline_folded", "thread_metrics", "thread_name_metrics", "cgroup_metrics", "cpu_metrics", "process_metrics", "timeline", "cpu_timeline", "second_metrics"}

// trees lists the views in which the row <Total> has its own exclusive value. In others, it is the
// sum of all rows.
var trees = []string{"call_tree", "inline_call_tree", "stack_nodes"}

// each records the share of a shown row.
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
	if id == "" && !p.sum || metric == "" {
		return
	}
	if p.sum {
		id = ""
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
	if at("function") == "<Total>" && !slices.Contains(trees, p.View) { // <Total> is the sum of the other rows
		value = 0
	}
	p.shares = append(p.shares, share{key, value})
}

// coverageReads lists the views that cover reads.
var coverageReads = []string{"function_metrics", "unattributed"}

// cover adds, for each metric in the rows, its total and the part of it that has no name.
func (p *partition) cover(ctx context.Context, db *queries.DB) error {
	if len(p.keys) == 0 {
		return nil
	}
	if p.sum {
		return p.coverSum(ctx, db)
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
	p.add(totals, reasons)
	return nil
}

// coverSum is cover for sums over recordings.
func (p *partition) coverSum(ctx context.Context, db *queries.DB) error {
	var metrics []string
	for _, k := range p.keys {
		metrics = append(metrics, k[1])
	}
	asked := "metric IN (" + queries.Quote(metrics...) + ")"
	totals, err := db.Records(ctx, `SELECT '' AS experiment_id, 'sum of ' || count(*) AS experiment, metric, unit, sum(inclusive)::BIGINT AS total
		FROM function_metrics WHERE mode = `+queries.Quote(p.Mode)+` AND function = '<Total>' AND kind = 'artificial' AND `+asked+` GROUP BY metric, unit ORDER BY metric`)
	if err != nil {
		return err
	}
	reasons, err := db.Records(ctx, `SELECT '' AS experiment_id, metric, reason, load_object, sum(value)::BIGINT AS value FROM unattributed
		WHERE mode = `+queries.Quote(p.Mode)+` AND subject = '`+p.subject()+`' AND `+asked+` GROUP BY metric, reason, load_object ORDER BY value DESC, reason, load_object`)
	if err != nil {
		return err
	}
	p.add(totals, reasons)
	return nil
}

// add adds the values of the totals and reasons.
func (p *partition) add(totals, reasons []queries.Record) {
	for _, t := range totals {
		c := &coverage{Experiment: t.Text("experiment"), Metric: t.Text("metric"), Unit: t.Text("unit"), total: t.Number("total"),
			key: [2]string{t.Text("experiment_id"), t.Text("metric")}}
		c.Total = result.Exact(c.total, "")
		c.unattributed(reasons)
		p.Coverage = append(p.Coverage, c)
	}
}

// subject returns what the rows are about: data objects or functions.
func (p *partition) subject() string {
	if slices.ContainsFunc(p.fields, func(f result.Field) bool { return f.Name == "data_object_id" }) {
		return "data object"
	}
	return "function"
}

// unattributed sets the percentage of the total that has no name, and the reasons for it.
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

// filterParameters are the parameters of a filter, named like the flags of the command line.
var filterParameters = []parameter{
	{"where", "strings", queries.WhereHelp},
	{"thread", "integers", "only samples of these threads"},
	{"cpu", "integers", "only samples on these CPUs"},
	{"pid", "integers", "only samples of these processes"},
	{"between", "strings", queries.BetweenHelp},
	{"hide", "strings", queries.HideHelp},
	{"api-only", "strings", queries.APIOnlyHelp},
}

// filterArguments are the values of filterParameters.
type filterArguments struct {
	Where, Between, Hide list[string]
	APIOnly              list[string] `json:"api-only"`
	Thread, CPU, PID     list[int64]
}

// list accepts a single JSON value or a list.
type list[T any] []T

func (l *list[T]) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return json.Unmarshal(text, (*[]T)(l))
	}
	*l = make([]T, 1)
	return json.Unmarshal(text, &(*l)[0])
}

func (args *arguments) filter() queries.Filter {
	return queries.Filter{Where: args.Where, Threads: args.Thread, CPUs: args.CPU, PIDs: args.PID, Between: args.Between,
		Hide: args.Hide, APIOnly: args.APIOnly, Mode: args.Mode}
}

// addFilter adds the filter's conditions, the hidden functions and remarks about the filter to an
// answer. It shortens them: the agent knows what it asked for.
func (a *answer) addFilter(ctx context.Context, db *queries.DB, f queries.Filter) error {
	conditions, err := f.Conditions()
	if err != nil {
		return err
	}
	a.Filter, a.Hidden = shortened(conditions), shortened(db.HiddenFunctions())
	remarks, err := db.Remarks(ctx)
	a.Warnings = append(a.Warnings, remarks[len(db.LeftOut()):]...) // the first ones are about the store: fit adds them
	return err
}

func shortened(texts []string) []string { return shortenedTo(maxName, texts) }

func shortenedTo(longest int, texts []string) (short []string) {
	for _, t := range texts {
		short = append(short, terminal.Shorten(t, longest))
	}
	return short
}

// compareWithWhole adds to each metric its total in percent of the value without the filter.
func (p *partition) compareWithWhole(ctx context.Context, db *queries.DB) error {
	if p.Filter == nil {
		return nil
	}
	shares, err := db.Shares(ctx)
	if err != nil {
		return err
	}
	for _, c := range p.Coverage {
		var value, whole int64
		for _, s := range shares {
			if c.key == [2]string{s.ExperimentID, s.Metric} || p.sum && c.Metric == s.Metric {
				value, whole = value+s.Value, whole+s.Whole
			}
		}
		if whole > 0 {
			left := percentOf(value, whole)
			c.Left = &left
		}
	}
	return nil
}
