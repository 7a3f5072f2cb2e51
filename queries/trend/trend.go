// Package trend follows values over experiments in the order of their start times, and finds where
// the values change.
package trend

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/rank"
	"stackmill/queries/report"
)

// Request says what to follow over the experiments of a session. Defaults has the defaults.
type Request struct {
	Metric    string // empty: the default of most experiments
	Mode      string // user, expert or machine
	Function  string // a name, a part of names, or a regular expression; empty: <Total>
	Inclusive bool   // inclusive instead of exclusive values
	Normalize string // one of compare.Normalizations
	Limit     int    // maximum number of functions, those with the highest sums
}

// Defaults returns a request with the default settings.
func Defaults() Request {
	return Request{Mode: "user", Normalize: "none", Limit: 5}
}

// Reads returns the tables and views that a trend reads.
func (r *Request) Reads() []string {
	return []string{"experiments", "metrics", "default_metrics", "function_trends"}
}

// Check validates a request as far as possible without a store.
func (r *Request) Check() error {
	switch {
	case !slices.Contains(report.Modes, r.Mode):
		return fmt.Errorf("--mode: unknown mode %q (choose one of %s)", r.Mode, strings.Join(report.Modes, ", "))
	case !slices.Contains(compare.Normalizations, r.Normalize):
		return fmt.Errorf("--normalise: unknown normalization %q (choose one of %s)", r.Normalize, strings.Join(compare.Normalizations, ", "))
	case r.Limit < 1:
		return fmt.Errorf("--limit: %d is less than 1", r.Limit)
	}
	return nil
}

// Result is a set of time series and their changes.
type Result struct {
	Request
	Unit     string // unit of the metric; normalized values are fractions, or per second
	Points   []Point
	Series   []Series // by descending sums
	Matched  int      // number of matching functions; Series has at most Limit of them
	Warnings []string
}

// Point is an experiment in the series.
type Point struct {
	ExperimentID string `json:"experiment_id"`
	Experiment   string `json:"experiment"`
	Started      string `json:"started"` // UTC
	Host         string `json:"host"`
	Target       string `json:"target"`
	Status       string `json:"status"`

	unit float64 // divisor of its values
}

// Series has the values of a function, or of <Total>, in all experiments.
type Series struct {
	Function   string        `json:"function"`
	Key        int64         `json:"function_key,string"`
	LoadObject string        `json:"load_object"`
	Module     string        `json:"module"`
	Values     []float64     `json:"values"` // by point; 0 where it has none
	Changes    []rank.Change `json:"changes"`
}

// Object returns the result for JSON. Each series has one value per point; points are sorted by
// time.
func (r *Result) Object() any {
	return struct {
		Metric    string   `json:"metric"`
		Unit      string   `json:"unit"`
		Mode      string   `json:"mode"`
		Inclusive bool     `json:"inclusive"`
		Normalize string   `json:"normalise"`
		Chance    float64  `json:"chance"`
		Points    []Point  `json:"points"`
		Matched   int      `json:"matched"`
		Series    []Series `json:"series"`
		Warnings  []string `json:"warnings"`
	}{r.Metric, r.Unit, r.Mode, r.Inclusive, r.Normalize, rank.Chance, append([]Point{}, r.Points...), r.Matched, append([]Series{}, r.Series...), append([]string{}, r.Warnings...)}
}

// trend is a request while Run executes it.
type trend struct {
	Result
	ctx context.Context
	db  *queries.DB
	has map[string]bool // ids of the experiments with the metric

	others []string // other metrics, of experiments that lack the requested one
}

// Run follows the requested values over the experiments of a session.
func Run(ctx context.Context, db *queries.DB, r Request) (*Result, error) {
	t := &trend{Result: Result{Request: r}, ctx: ctx, db: db}
	for _, step := range []func() error{t.chooseMetric, t.order, t.normalize, t.read} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	test := &rank.Test{}
	for i := range t.Series {
		t.Series[i].Changes = test.Changes(t.Series[i].Values)
	}
	return &t.Result, nil
}

func (t *trend) warn(format string, args ...any) {
	t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...))
}

// chooseMetric finds the metric, its unit, and the experiments that have it.
func (t *trend) chooseMetric() error {
	metrics, err := t.db.Metrics(t.ctx)
	if err != nil {
		return err
	}
	var known []string
	for _, m := range metrics {
		if t.Metric == "" || t.Metric == m.Name {
			t.Metric, t.Unit, t.has = m.Name, m.Unit, map[string]bool{}
			for _, id := range m.Experiments {
				t.has[id] = true
			}
			for _, o := range metrics {
				if slices.ContainsFunc(o.Experiments, func(id string) bool { return !t.has[id] }) {
					t.others = append(t.others, o.Name)
				}
			}
			return nil
		}
		known = append(known, m.Name)
	}
	if t.Metric == "" {
		return fmt.Errorf("the experiments have no metric (stackmill problems says what is wrong with them)")
	}
	return fmt.Errorf("no metric %q%s (there are %s)", t.Metric, queries.Suggest(t.Metric, known), strings.Join(known, ", "))
}

// order makes the points, sorted by start time. It leaves out experiments without the metric,
// because their value is unknown rather than 0, and experiments without a start time.
func (t *trend) order() error {
	records, err := t.db.Records(t.ctx, `SELECT e.experiment_id, n.experiment, strftime(e.started, '%Y-%m-%dT%H:%M:%SZ') AS started, e.host, e.target, e.status
		FROM experiments e LEFT JOIN experiment_names n USING (experiment_id) ORDER BY e.started, n.experiment`)
	if err != nil {
		return err
	}
	lacking, timeless := 0, 0
	hosts, targets := map[string]bool{}, map[string]bool{}
	for _, r := range records {
		p := Point{ExperimentID: r.Text("experiment_id"), Experiment: r.Text("experiment"), Started: r.Text("started"), Host: r.Text("host"), Target: r.Text("target"), Status: r.Text("status"), unit: 1}
		switch {
		case !t.has[p.ExperimentID] || p.Status == "failed":
			lacking++
		case p.Started == "":
			timeless++
		default:
			t.Points = append(t.Points, p)
			hosts[p.Host], targets[p.Target] = true, true
		}
	}
	if lacking > 0 {
		others := "none"
		if t.others != nil {
			others = strings.Join(t.others, ", ")
		}
		t.warn("%d of %d experiments have no metric %s, or no samples: they are left out (other metrics of the experiments: %s)", lacking, len(records), t.Metric, others)
	}
	if timeless > 0 {
		t.warn("%d of %d experiments have no start time: they are left out", timeless, len(records))
	}
	if len(targets) > 1 {
		t.warn("the experiments are of %d programs, which may explain changes (choose some by target=NAME)", len(targets))
	}
	if len(hosts) > 1 {
		t.warn("the experiments come from %d hosts, which may explain changes (choose some by host=NAME)", len(hosts))
	}
	return nil
}

// normalize sets the number by which the values of each point are divided.
func (t *trend) normalize() error {
	if t.Normalize == "none" {
		return nil
	}
	query := `SELECT experiment_id, duration_ns / 1e9 AS unit FROM experiments`
	var args []any
	if t.Normalize == "total" {
		query = `SELECT experiment_id, sum(inclusive)::DOUBLE AS unit FROM function_trends WHERE metric = ? AND mode = ? AND function = '<Total>' AND kind = 'artificial' GROUP BY ALL`
		args = []any{t.Metric, t.Mode}
	}
	records, err := t.db.Records(t.ctx, query, args...)
	if err != nil {
		return err
	}
	of := map[string]float64{}
	for _, r := range records {
		of[r.Text("experiment_id")], _ = r["unit"].(float64)
	}
	points := len(t.Points)
	for i := range t.Points {
		t.Points[i].unit = of[t.Points[i].ExperimentID]
	}
	t.Points = slices.DeleteFunc(t.Points, func(p Point) bool { return p.unit == 0 })
	if n := points - len(t.Points); n > 0 {
		t.warn("%d of %d experiments cannot be normalized: they are left out", n, points)
	}
	return nil
}

// read reads the values of the requested functions.
func (t *trend) read() error {
	meant, err := t.condition()
	if err != nil {
		return err
	}
	at := map[string]int{}
	for i, p := range t.Points {
		at[p.ExperimentID] = i
	}
	column := "exclusive"
	if t.Inclusive {
		column = "inclusive"
	}
	records, err := t.db.Records(t.ctx, `SELECT experiment_id, function_key, function, load_object, module, function_key = function_id AS only_in_build, sum(`+column+`)::DOUBLE AS value FROM function_trends
		WHERE metric = ? AND mode = ? AND `+meant+` GROUP BY ALL ORDER BY ALL`, t.Metric, t.Mode)
	if err != nil {
		return err
	}
	known, last := map[any]int{}, map[any]int{} // the series, and the last point with its names, by identity
	identity := t.identities(records)
	for _, r := range records {
		n, ok := at[r.Text("experiment_id")]
		if !ok {
			continue
		}
		key := identity(r)
		if _, some := known[key]; !some {
			known[key] = len(t.Series)
			t.Series = append(t.Series, Series{Key: r.Number("function_key"), Values: make([]float64, len(t.Points))})
		}
		s := &t.Series[known[key]]
		if n >= last[key] { // names may differ between builds
			s.Function, s.LoadObject, s.Module, last[key] = r.Text("function"), r.Text("load_object"), r.Text("module"), n
		}
		value, _ := r["value"].(float64)
		s.Values[n] += value / t.Points[n].unit
	}
	t.Matched = len(t.Series)
	slices.SortStableFunc(t.Series, func(a, b Series) int {
		return cmp.Or(-cmp.Compare(compare.Sum(a.Values), compare.Sum(b.Values)), cmp.Compare(a.Key, b.Key))
	})
	t.Series = t.Series[:min(t.Limit, len(t.Series))]
	return nil
}

// unit identifies functions whose keys differ between builds, by their names.
type unit struct{ function, object, module string }

func unitOf(r queries.Record) unit {
	module := r.Text("module")
	return unit{r.Text("function"), r.Text("load_object"), module[strings.LastIndexByte(module, '/')+1:]}
}

// identities returns a function that returns the identity of a row's series. It is the function's
// key or, if that differs between builds, the function's names: all functions with these names are
// summed in one series.
func (t *trend) identities(records []queries.Record) func(queries.Record) any {
	keys := map[unit]map[int64]bool{}
	for _, r := range records {
		if r["only_in_build"] == true {
			keys[unitOf(r)] = map[int64]bool{}
		}
	}
	for _, r := range records {
		if of := keys[unitOf(r)]; of != nil {
			of[r.Number("function_key")] = true
		}
	}
	for _, u := range slices.SortedFunc(maps.Keys(keys), func(a, b unit) int {
		return cmp.Or(cmp.Compare(a.function, b.function), cmp.Compare(a.object, b.object), cmp.Compare(a.module, b.module))
	}) {
		t.warn("%s of %s is the sum of all functions of that name: %d of them cannot be distinguished across builds", u.function, u.object, len(keys[u]))
	}
	return func(r queries.Record) any {
		if u := unitOf(r); keys[u] != nil {
			return u
		}
		return r.Number("function_key")
	}
}

// condition returns the SQL condition for the requested rows.
func (t *trend) condition() (string, error) {
	if t.Function == "" {
		return "function = '<Total>' AND kind = 'artificial'", nil
	}
	records, err := t.db.Records(t.ctx, "SELECT DISTINCT function, function_key FROM function_trends WHERE metric = ? AND mode = ? ORDER BY ALL", t.Metric, t.Mode)
	if err != nil {
		return "", err
	}
	var known []string
	for _, r := range records {
		known = append(known, r.Text("function"))
	}
	known = slices.Compact(known)
	names := report.NamesOf(known, t.Function)
	if names == nil {
		return "", fmt.Errorf("no function %q has a value of %s%s", t.Function, t.Metric, queries.Suggest(t.Function, known))
	}
	// The condition is on keys, because the names of a function may differ between builds. It lists
	// the keys, because the engine compares constants with the statistics of files, but not the
	// result of a subquery.
	meant := map[string]bool{}
	for _, name := range names {
		meant[name] = true
	}
	var keys []string
	for _, r := range records {
		if meant[r.Text("function")] {
			keys = append(keys, strconv.FormatInt(r.Number("function_key"), 10))
		}
	}
	slices.Sort(keys)
	return "function_key IN (" + strings.Join(slices.Compact(keys), ", ") + ")", nil
}
