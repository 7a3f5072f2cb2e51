package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/schema"
)

// choose finds the experiments of both sides.
func (c *comparison) choose() (err error) {
	c.Result.Base.Selectors, c.Result.Test.Selectors = c.Request.Base, c.Request.Test
	if c.good != "" {
		c.Result.Base.Selectors = []string{c.good}
	}
	if c.Result.Base.Runs, err = c.db.Select(c.ctx, c.Request.Base...); err != nil {
		return fmt.Errorf("--base: %w", err)
	}
	if c.Result.Test.Runs, err = c.db.Select(c.ctx, c.Request.Test...); err != nil {
		return fmt.Errorf("--test: %w", err)
	}
	both := 0
	for _, e := range c.Result.Base.Runs {
		if slices.ContainsFunc(c.Result.Test.Runs, func(o queries.Experiment) bool { return o.ExperimentID == e.ExperimentID }) {
			both++
		}
	}
	if both > 0 {
		c.warn("the groups share %s, so the variation between them is unknown", queries.Count(both, "experiment"))
	}
	return nil
}

// chooseMetric chooses the metric, and drops experiments that lack it, because their value is
// unknown rather than 0.
func (c *comparison) chooseMetric() error {
	all := slices.Concat(c.Result.Base.Runs, c.Result.Test.Runs)
	only := ""
	if subjects[c.By].data {
		only = " AND data_objects"
	}
	records, err := c.db.Records(c.ctx, `SELECT metric, any_value(unit) AS unit, any_value(kind) AS kind, bool_or(preferred) AS preferred, list(experiment_id) AS ids
		FROM metrics WHERE experiment_id IN (`+queries.Quote(ids(all)...)+`)`+only+` GROUP BY metric ORDER BY metric`)
	if err != nil {
		return err
	}
	if c.Metric == "" {
		if err := c.defaultMetric(records); err != nil {
			return err
		}
	}
	var known []string
	for _, r := range records {
		if known = append(known, r.Text("metric")); r.Text("metric") != c.Metric {
			continue
		}
		has := map[string]bool{}
		for _, id := range r["ids"].([]any) {
			has[id.(string)] = true
		}
		c.Unit, c.sampled = r.Text("unit"), slices.Contains(sampledKinds, r.Text("kind"))
		base, test := c.having(c.Result.Base.Runs, has, "base", records), c.having(c.Result.Test.Runs, has, "test", records)
		if len(base) == 0 || len(test) == 0 {
			return c.noCommonMetric(records, c.Metric)
		}
		c.Result.Base.Runs, c.Result.Test.Runs = base, test
		return nil
	}
	return fmt.Errorf("no metric %q%s (choose one of %s)", c.Metric, queries.Suggest(c.Metric, known), strings.Join(known, ", "))
}

// sampledKinds are the kinds of samples whose values vary from run to run: they are estimates by
// sampling, or waits. Of the other kinds, every event was recorded.
var sampledKinds = []string{schema.Clock.String(), schema.HWC.String(), schema.Perf.String(), schema.Wait.String()}

func (c *comparison) having(runs []queries.Experiment, has map[string]bool, side string, records []queries.Record) (kept []queries.Experiment) {
	var lacking []queries.Experiment
	for _, e := range runs {
		if has[e.ExperimentID] && e.Status != "failed" {
			kept = append(kept, e)
		} else {
			lacking = append(lacking, e)
		}
	}
	if len(lacking) > 0 {
		c.warn("%d of %d experiments of the %s have no metric %s, or no samples: they are left out (their metrics: %s)", len(lacking), len(runs), side, c.Metric, metricsOf(lacking, records))
	}
	return kept
}

// metricsOf returns a text that lists the metrics of some experiments.
func metricsOf(runs []queries.Experiment, records []queries.Record) string {
	var list []string
	for _, r := range records {
		n := 0
		for _, e := range runs {
			if slices.Contains(r["ids"].([]any), any(e.ExperimentID)) && e.Status != "failed" {
				n++
			}
		}
		switch {
		case n == len(runs):
			list = append(list, r.Text("metric"))
		case n > 0:
			list = append(list, fmt.Sprintf("%s in %d of %d", r.Text("metric"), n, len(runs)))
		}
	}
	if list == nil {
		return "none"
	}
	return strings.Join(list, ", ")
}

// noCommonMetric returns the error for sides that have no metric in common, or lack the one asked
// for.
func (c *comparison) noCommonMetric(records []queries.Record, asked string) error {
	base, test := metricsOf(c.Result.Base.Runs, records), metricsOf(c.Result.Test.Runs, records)
	if base == "none" && test == "none" {
		return fmt.Errorf("no experiment on either side has a metric (stackmill problems lists what is wrong with the experiments)")
	}
	what, do := "the sides have no metric in common", "record both with the same events"
	if asked != "" {
		what = "the metric " + asked + " is not on both sides"
		if c.firstMetric(records) != "" {
			do = "name one that both have, or " + do
		}
	}
	if base == "none" || test == "none" {
		do = "stackmill problems lists what is wrong with recordings that have no metric"
	}
	if subjects[c.By].data {
		what += ", of those that have data objects"
	}
	return fmt.Errorf("%s: the base has %s, the test has %s (%s)", what, base, test, do)
}

// firstMetric returns the metric of both sides that most experiments have. If several have equally
// many, it is the one that the recordings prefer, then the first in the order of reports.
func (c *comparison) firstMetric(records []queries.Record) (name string) {
	rank := map[string]int{}
	for i, m := range schema.Declared {
		rank[m.Name] = i - len(schema.Declared)
	}
	for _, r := range records {
		if r["preferred"] == true {
			rank[r.Text("metric")] -= 2 * len(schema.Declared)
		}
	}
	most := 0
	for _, r := range records {
		metric, has := r.Text("metric"), r["ids"].([]any)
		some := func(e queries.Experiment) bool { return slices.Contains(has, any(e.ExperimentID)) }
		if !slices.ContainsFunc(c.Result.Base.Runs, some) || !slices.ContainsFunc(c.Result.Test.Runs, some) {
			continue
		}
		if n := len(has); n > most || n == most && rank[metric] < rank[name] {
			name, most = metric, n
		}
	}
	return name
}

// defaultMetric chooses firstMetric or, if the filter leaves no values of that, another metric.
func (c *comparison) defaultMetric(records []queries.Record) error {
	usual := c.firstMetric(records)
	if usual == "" {
		return c.noCommonMetric(records, "")
	}
	emptied, err := c.db.Emptied(c.ctx)
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(records), func(r queries.Record) bool {
		return !slices.ContainsFunc(r["ids"].([]any), func(id any) bool { return !emptied[[2]string{id.(string), r.Text("metric")}] })
	})
	if c.Metric = cmp.Or(c.firstMetric(left), usual); c.Metric != usual {
		c.warn("the filter leaves nothing of %s: %s is compared instead", usual, c.Metric)
	}
	return nil
}

// experiment returns the id of the run with number n; name returns its name.
func (c *comparison) experiment(n int) string { return c.runOf(n).ExperimentID }
func (c *comparison) name(n int) string       { return c.runOf(n).Name }

func (c *comparison) runOf(n int) queries.Experiment {
	if m := n - len(c.Result.Base.Runs); m >= 0 {
		return c.Result.Test.Runs[m]
	}
	return c.Result.Base.Runs[n]
}

func ids(runs []queries.Experiment) (list []string) {
	for _, e := range runs {
		list = append(list, e.ExperimentID)
	}
	return list
}

// runTable is SQL of a CTE `runs`, with the experiment id and number of each run.
func (c *comparison) runTable() string {
	var rows []string
	for n, e := range slices.Concat(c.Result.Base.Runs, c.Result.Test.Runs) {
		rows = append(rows, fmt.Sprintf("(%s, %d)", queries.Quote(e.ExperimentID), n))
	}
	return "runs(experiment_id, n) AS (VALUES " + strings.Join(rows, ", ") + ")"
}

// measure sets the divisor of each run's values, for the normalization, and the value of one
// sample.
func (c *comparison) measure() error {
	c.runs = make([]run, len(c.Result.Base.Runs)+len(c.Result.Test.Runs))
	records, err := c.db.Records(c.ctx, "WITH "+c.runTable()+` SELECT n, duration_ns, target, host, strftime(started, '%Y-%m-%dT%H:%M:%SZ') AS started FROM experiments JOIN runs USING (experiment_id)`)
	if err != nil {
		return err
	}
	c.targets, c.programs = make([]string, len(c.runs)), make([]string, len(c.runs))
	for _, r := range records {
		c.runs[r.Number("n")].seconds = float64(r.Number("duration_ns")) / 1e9
		c.runs[r.Number("n")].host, c.runs[r.Number("n")].started = r.Text("host"), r.Text("started")
		c.targets[r.Number("n")] = r.Text("target")
	}
	if !c.sampled {
		return nil
	}
	records, err = c.db.Records(c.ctx, "WITH "+c.runTable()+` SELECT n, sum(value)::BIGINT AS value, sum(samples)::BIGINT AS samples
		FROM stack_values JOIN runs USING (experiment_id) WHERE metric = ? GROUP BY n`, c.Metric)
	if err != nil {
		return err
	}
	for _, r := range records {
		if n := r.Number("samples"); n > 0 {
			c.runs[r.Number("n")].weight = float64(r.Number("value")) / float64(n)
		}
	}
	return nil
}
