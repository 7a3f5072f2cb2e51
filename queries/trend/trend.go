// Package trend follows values over experiments, in the order of their start times or of a label,
// and finds where the values change.
package trend

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

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
	Order     string // what orders the experiments: started, label=NAME, or another column of experiments
	By        string // one series for each value of label=NAME or of a column; empty: all experiments are one series
}

// Defaults returns a request with the default settings.
func Defaults() Request {
	return Request{Mode: "user", Normalize: "none", Limit: 5, Order: inOrderOfStart}
}

// Reads returns the tables and views that a trend reads.
func (r *Request) Reads() []string {
	return []string{"experiments", "metrics", "default_metrics", "function_trends", "labels", "load_objects"}
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
	if _, err := ParseKey(r.Order); err != nil {
		return fmt.Errorf("--order: %w", err)
	}
	if _, err := ParseKey(r.By); r.By != "" && err != nil {
		return fmt.Errorf("--by: %w", err)
	}
	return nil
}

// Result is a set of time series and their changes.
type Result struct {
	Request
	Unit     string   // unit of the metric; normalized values are fractions, or per second
	Points   []Point  // the experiments, in their order
	Series   []Series // by descending sums of the functions, then by By
	Matched  int      // number of matching functions; Series has at most Limit of them
	Warnings []string
}

// Point is an experiment in the series.
type Point struct {
	ExperimentID string `json:"experiment_id"`
	Experiment   string `json:"experiment"`
	Started      string `json:"started"`           // UTC; empty if unknown
	StartedFrom  string `json:"started_from"`      // as experiments.started_from
	Ordered      string `json:"ordered,omitempty"` // the value of Request.Order, if that is not the start
	Host         string `json:"host"`
	Target       string `json:"target"`
	Build        string `json:"build"` // the beginning of the program's build-id, or of a hash without one; empty if unknown
	Status       string `json:"status"`

	Labels map[string]string `json:"labels,omitempty"`

	unit float64 // divisor of its values
	by   string  // the value of Request.By
}

// Series has the values of a function, or of <Total>, in all experiments, or in the experiments with
// one value of Request.By.
type Series struct {
	Function   string        `json:"function"`
	Key        int64         `json:"function_key,string"`
	LoadObject string        `json:"load_object"`
	Module     string        `json:"module"`
	By         *string       `json:"by,omitempty"`     // nil without Request.By; empty for experiments that lack the label
	Points     []int         `json:"points,omitempty"` // indexes of Result.Points, one for each value; nil: all points
	Values     []float64     `json:"values"`           // 0 where it has none
	Changes    []rank.Change `json:"changes"`          // At is an index of Values
}

// PointOf returns the point to which a value of a series belongs.
func (r *Result) PointOf(s *Series, value int) *Point {
	if s.Points != nil {
		value = s.Points[value]
	}
	return &r.Points[value]
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
		Order     string   `json:"order"`
		By        string   `json:"by,omitempty"`
		Chance    float64  `json:"chance"`
		Points    []Point  `json:"points"`
		Matched   int      `json:"matched"`
		Series    []Series `json:"series"`
		Warnings  []string `json:"warnings"`
	}{r.Metric, r.Unit, r.Mode, r.Inclusive, r.Normalize, r.Order, r.By, rank.Chance, append([]Point{}, r.Points...), r.Matched, append([]Series{}, r.Series...), append([]string{}, r.Warnings...)}
}

// trend is a request while Run executes it.
type trend struct {
	Result
	ctx context.Context
	db  *queries.DB
	has map[string]bool // ids of the experiments with the metric

	groups    []string // the values of By, in order; one empty value without By
	members   [][]int  // by group: the indexes of its points
	inGroup   []int    // by point: its group
	inMembers []int    // by point: its index in the members of its group

	others []string // other metrics, of experiments that lack the requested one
}

// Run follows the requested values over the experiments of a session.
func Run(ctx context.Context, db *queries.DB, r Request) (*Result, error) {
	t := &trend{Result: Result{Request: r}, ctx: ctx, db: db}
	for _, step := range []func() error{t.chooseMetric, t.order, t.normalize, t.group, t.read} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	test, dates := &rank.Test{}, t.datesAreNights()
	for i := range t.Series {
		t.Series[i].Changes = t.changes(test, &t.Series[i], dates)
	}
	return &t.Result, nil
}

// datesAreNights reports whether the points of one date are one night. Otherwise, each start is a
// night.
func (t *trend) datesAreNights() bool {
	dates := map[string]bool{}
	for i := range t.Points {
		dates[dateOf(&t.Points[i])] = true
	}
	return len(dates) >= rank.LeastDates
}

func dateOf(p *Point) string { return p.Started[:min(len(p.Started), len(time.DateOnly))] }

// changes finds the changes of a series from night to night, as a digest does. The points of a
// night, which are consecutive, count as one value. A change begins at the first point of a night.
func (t *trend) changes(test *rank.Test, s *Series, dates bool) []rank.Change {
	night := func(i int) string {
		switch p := t.PointOf(s, i); {
		case t.Order != inOrderOfStart:
			return p.Ordered
		case dates:
			return dateOf(p)
		default:
			return p.Started
		}
	}
	var first []int // of each night
	var values []float64
	for i := 0; i < len(s.Values); {
		end := i + 1
		for end < len(s.Values) && night(end) == night(i) {
			end++
		}
		first, values = append(first, i), append(values, rank.MiddleOf(s.Values[i:end]))
		i = end
	}
	changes := test.Changes(values)
	for i := range changes {
		changes[i].At = first[changes[i].At]
	}
	return changes
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

// builds is SQL of the build of each load object.
const builds = `SELECT experiment_id, name, min(left(COALESCE(NULLIF(build_id, ''), printf('%x', load_object_id)), 12)) AS build
	FROM load_objects WHERE kind <> 'artificial' GROUP BY ALL`

// order makes the points and sorts them. It leaves out experiments without the metric, because their
// value is unknown rather than 0, and experiments without a value of the key that orders them.
func (t *trend) order() error {
	by, _ := ParseKey(t.By) // checked, or empty
	order, err := ParseKey(t.Order)
	if err != nil {
		return fmt.Errorf("--order: %w", err)
	}
	records, err := t.db.Records(t.ctx, `SELECT e.experiment_id, n.experiment, strftime(e.started, '%Y-%m-%dT%H:%M:%SZ') AS started, e.started_from, e.host, e.target, e.status, b.build,
		`+order.SQL("e")+` AS ordered, `+by.SQL("e")+` AS grouped
		FROM experiments e LEFT JOIN experiment_names n USING (experiment_id) LEFT JOIN (`+builds+`) b ON b.experiment_id = e.experiment_id AND b.name = e.target
		ORDER BY e.started, n.experiment`)
	if err != nil {
		return err
	}
	labels := map[string]map[string]string{}
	for _, e := range t.db.Experiments() {
		labels[e.ExperimentID] = e.Labels
	}
	lacking, timeless, unordered := 0, 0, 0
	dated := map[string]bool{}
	for _, r := range records {
		p := pointOf(r)
		p.Labels = labels[p.ExperimentID]
		switch {
		case !t.has[p.ExperimentID] || p.Status == "failed":
			lacking++
		case t.Order == inOrderOfStart && p.Started == "":
			timeless++
		case t.Order != inOrderOfStart && p.Ordered == "":
			unordered++
		default:
			t.Points = append(t.Points, p)
			dated[p.ExperimentID] = t.Order == inOrderOfStart
		}
	}
	t.sort()
	if lacking > 0 {
		others := "none"
		if t.others != nil {
			others = strings.Join(t.others, ", ")
		}
		t.warn("%d of %d experiments have no metric %s, or no samples: they are left out (other metrics of the experiments: %s)", lacking, len(records), t.Metric, others)
	}
	if timeless > 0 {
		t.warn("%d of %d experiments have no start, because an older version of stackmill ingested them: they are left out (stackmill label EXPERIMENT started=2026-11-28T02:00Z gives it; another label can order them, too: --order label=NAME)", timeless, len(records))
	}
	if unordered > 0 {
		t.warn("%d of %d experiments have no %s: they are left out", unordered, len(records), order)
	}
	if unordered > 0 && len(t.Points) == 0 {
		return Unknown(t.ctx, t.db, "--order", order)
	}
	remark, err := t.db.CopiedTogether(t.ctx, dated)
	if remark != "" {
		t.warn("%s", remark)
	}
	return err
}

// pointOf makes the point of an experiment.
func pointOf(r queries.Record) Point {
	return Point{
		ExperimentID: r.Text("experiment_id"), Experiment: r.Text("experiment"), Started: r.Text("started"), StartedFrom: r.Text("started_from"), Ordered: r.Text("ordered"),
		Host: r.Text("host"), Target: r.Text("target"), Build: r.Text("build"), Status: r.Text("status"), unit: 1, by: r.Text("grouped"),
	}
}

// sort sorts the points by the values of Order. Before, they are in the order of their start.
func (t *trend) sort() {
	var values []string
	for i := range t.Points {
		if t.Order == inOrderOfStart {
			t.Points[i].Ordered = ""
		}
		values = append(values, t.Points[i].Ordered)
	}
	if t.Order != inOrderOfStart {
		compare := queries.ValueOrder(values)
		slices.SortStableFunc(t.Points, func(a, b Point) int { return compare(a.Ordered, b.Ordered) })
	}
}

// group divides the points into groups, whose values become separate series. It warns of groups that
// mix programs or hosts.
func (t *trend) group() error {
	by, _ := ParseKey(t.By)
	values := map[string]bool{}
	for i := range t.Points {
		values[t.Points[i].by] = true
	}
	if t.By != "" && len(values) == 1 && values[""] {
		return Unknown(t.ctx, t.db, "--by", by)
	}
	t.groups = slices.Collect(maps.Keys(values))
	slices.SortFunc(t.groups, queries.ValueOrder(slices.DeleteFunc(slices.Clone(t.groups), func(v string) bool { return v == "" })))
	at := map[string]int{}
	for i, v := range t.groups {
		at[v] = i
	}
	t.members, t.inGroup, t.inMembers = make([][]int, len(t.groups)), make([]int, len(t.Points)), make([]int, len(t.Points))
	hosts, targets := make([]map[string]bool, len(t.groups)), make([]map[string]bool, len(t.groups))
	for i := range t.Points {
		p := &t.Points[i]
		g := at[p.by]
		if t.members[g] == nil {
			hosts[g], targets[g] = map[string]bool{}, map[string]bool{}
		}
		t.inGroup[i], t.inMembers[i] = g, len(t.members[g])
		t.members[g] = append(t.members[g], i)
		hosts[g][p.Host], targets[g][p.Target] = true, true
	}
	t.warnOfMixed(targets, "are of %d programs", "target")
	t.warnOfMixed(hosts, "come from %d hosts", "host")
	return nil
}

// warnOfMixed warns if the experiments of a group differ in a column. values has the values of the
// column for each group.
func (t *trend) warnOfMixed(values []map[string]bool, what, column string) {
	most, mixed := 0, 0
	for _, v := range values {
		if most = max(most, len(v)); len(v) > 1 {
			mixed++
		}
	}
	if mixed == 0 {
		return
	}
	of := "the experiments "
	if t.By != "" {
		of = fmt.Sprintf("in %d of %d series, the experiments ", mixed, len(values))
		what = strings.Replace(what, "%d", "up to %d", 1)
	}
	t.warn(of+what+", which may explain changes (choose some by %s=NAME, or make a series for each with --by %s)", most, column, column)
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
	functions := map[any]*function{} // by identity
	identity := t.identities(records)
	for _, r := range records {
		n, ok := at[r.Text("experiment_id")]
		if !ok {
			continue
		}
		id := identity(r)
		if functions[id] == nil {
			functions[id] = &function{key: r.Number("function_key"), series: make([]*Series, len(t.groups))}
		}
		t.add(functions[id], n, r)
	}
	t.Matched = len(functions)
	t.choose(slices.Collect(maps.Values(functions)))
	return nil
}

// function is a function, or <Total>, while its values are collected.
type function struct {
	key    int64
	names  Series // its names in the latest point so far: they may differ between builds
	last   int    // that point
	sum    float64
	series []*Series // by group; nil where it has no values
}

// add adds the value of a function in a point.
func (t *trend) add(f *function, point int, r queries.Record) {
	g := t.inGroup[point]
	if f.series[g] == nil {
		f.series[g] = &Series{Values: make([]float64, len(t.members[g]))}
	}
	if point >= f.last {
		f.last, f.names = point, Series{Function: r.Text("function"), LoadObject: r.Text("load_object"), Module: r.Text("module"), Key: f.key}
	}
	value, _ := r["value"].(float64)
	value /= t.Points[point].unit
	f.series[g].Values[t.inMembers[point]] += value
	f.sum += value
}

// choose makes the series of the functions with the highest sums.
func (t *trend) choose(functions []*function) {
	slices.SortFunc(functions, func(a, b *function) int { return cmp.Or(-cmp.Compare(a.sum, b.sum), cmp.Compare(a.key, b.key)) })
	for _, f := range functions[:min(t.Limit, len(functions))] {
		for g, s := range f.series {
			if s == nil {
				continue
			}
			next := f.names
			if next.Values = s.Values; t.By != "" {
				next.By, next.Points = &t.groups[g], t.members[g]
			}
			t.Series = append(t.Series, next)
		}
	}
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
