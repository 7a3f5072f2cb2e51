package serve

import (
	"cmp"
	"fmt"
)

// unknownAnswer says how much of a metric is unknown, and why. Each reason is one row for all experiments.
type unknownAnswer struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	Mode   string `json:"mode"`
	unknownShare
	Reasons []unknownReason `json:"reasons"`
}

// unknownShare has the sums over the experiments that have the metric.
type unknownShare struct {
	Experiments int64   `json:"experiments"` // with the metric
	Without     int64   `json:"without"`     // selected experiments that lack the metric
	Total       int64   `json:"total"`       // the value of <Total>
	Functions   int64   `json:"functions"`   // the value that belongs to no function
	Code        int64   `json:"code"`        // the value of known functions whose instruction is not known
	DataObjects int64   `json:"data_objects"`
	HasData     bool    `json:"has_data"` // whether the metric has data objects
	Share       float64 `json:"share"`    // functions / total, 0 without a total
}

// unknownReason is one reason in one load object.
type unknownReason struct {
	Subject     string  `json:"subject"` // function, instruction or data object
	Reason      string  `json:"reason"`
	LoadObject  string  `json:"load_object"`
	Value       int64   `json:"value"`
	Samples     int64   `json:"samples"`
	Experiments int64   `json:"experiments"`
	Programs    int64   `json:"programs"`
	Program     *string `json:"program"` // of one of the experiments
	Nights      int64   `json:"nights"`
	FirstNight  *string `json:"first_night"`
	LastNight   *string `json:"last_night"`
	Experiment  string  `json:"experiment"` // the one with the largest value
	Help        string  `json:"help"`
	Command     string  `json:"command"`
}

// listUnknown answers with the values that belong to no function, instruction or data object, largest first, with what
// helps. The parameter `only=share` leaves out the reasons, which takes much less time.
func listUnknown(w *job) error {
	mode := w.mode()
	f, err := w.filter(mode, false)
	if err != nil {
		return err
	}
	only := w.values.Get("only") == "share"
	reads := []string{"function_metrics", "metric_totals"}
	if !only {
		reads = append(reads, "unattributed")
	}
	db, done, err := w.openMetric(f, reads, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	a := unknownAnswer{Mode: mode, Reasons: []unknownReason{}}
	if a.Metric, a.Unit, err = chooseMetric(w.ctx, db, w.values.Get("metric")); err != nil || a.Metric == "" {
		return cmp.Or(err, w.writeExact(a))
	}
	functions := "function_totals"
	if db.IsFiltered() {
		functions = "function_metrics"
	}
	if a.unknownShare, err = readRow[unknownShare](w.ctx, db, fmt.Sprintf(`WITH totals AS (
  SELECT coalesce(sum(exclusive) FILTER ("function" = '<Total>' AND kind = 'artificial'), 0)::BIGINT AS total,
    coalesce(sum(exclusive) FILTER (kind <> 'unknown' AND NOT ("function" = '<Total>' AND kind = 'artificial')), 0)::BIGINT AS known
  FROM %s WHERE mode = $1 AND metric = $2
),
having_it AS (SELECT count(*) AS experiments, coalesce(bool_or(data_objects), false) AS has_data FROM metrics WHERE metric = $2)
SELECT experiments, %d - experiments AS without, total, total - known AS functions, 0 AS code, 0 AS data_objects, has_data,
  IF(total = 0, 0, (total - known) / total)::DOUBLE AS share
FROM totals, having_it`, functions, db.Count), mode, a.Metric); err != nil || only {
		return cmp.Or(err, w.writeExact(a))
	}
	if a.Reasons, err = readRows[unknownReason](w.ctx, db, `WITH runs AS (
  SELECT experiment_id, experiment, target AS program, started::DATE AS night FROM experiments
),
reasons AS (
  SELECT u.*, r.experiment AS run, r.program, r.night FROM unattributed u JOIN runs r USING (experiment_id) WHERE u.mode = $1 AND u.metric = $2
)
SELECT subject, reason, load_object, sum(value)::BIGINT AS value, sum(samples)::BIGINT AS samples, count(DISTINCT experiment_id) AS experiments,
  count(DISTINCT program) AS programs, arg_max(program, (value, program)) AS program, count(DISTINCT night) AS nights,
  min(night)::VARCHAR AS first_night, max(night)::VARCHAR AS last_night, arg_max(run, (value, run)) AS experiment, '' AS help, '' AS command
FROM reasons GROUP BY subject, reason, load_object ORDER BY value DESC, subject, reason, load_object`, mode, a.Metric); err != nil {
		return err
	}
	for i := range a.Reasons {
		r := &a.Reasons[i]
		r.Help, r.Command = whatHelps(r.Reason, r.LoadObject)
		switch r.Subject {
		case "instruction":
			a.Code += r.Value
		case "data object":
			a.DataObjects += r.Value
		}
	}
	return w.writeExact(a)
}
