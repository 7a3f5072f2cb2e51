package serve

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/report"
)

// Parameters shared by several endpoints.
var (
	experimentParameter = parameter{name: "experiment", kind: "string", repeatable: true, doc: "only these experiments: " + queries.SelectorHelp}
	metricParameter     = parameter{name: "metric", kind: "string", doc: "the metric; by default each experiment's default metric"}
	oneMetricParameter  = parameter{name: "metric", kind: "string", doc: "the metric; by default the default metric of most of the experiments"}
	modeParameter       = parameter{name: "mode", kind: "string", enum: report.Modes, doc: "the representation; by default user"}
	limitParameter      = parameter{name: "limit", kind: "integer", doc: "at most this many rows of each experiment and metric"}
	columnsParameter    = parameter{name: "columns", kind: "string", doc: "only these columns, separated by commas"}
	normalizeParameter  = parameter{name: "normalise", kind: "string", enum: compare.Normalizations, doc: "how to normalize values of runs of different length; by default not at all"}
	dataMetricParameter = parameter{name: "metric", kind: "string", doc: "the metric; by default the metric of data objects that is the default of most of the experiments"}
	piecesParameter     = parameter{name: "by", kind: "string", enum: []string{"cache-line", "page"}, doc: "the pieces of memory; by default cache lines"}
	inlineParameter     = parameter{name: "inline", kind: "boolean", enum: []string{"true", "false"}, doc: "show inlined functions as separate functions"}
)

// filterParameters are the parameters that select samples and hide functions.
var filterParameters = []parameter{
	{name: "where", kind: "string", repeatable: true, doc: queries.WhereHelp},
	{name: "thread", kind: "integer", repeatable: true, doc: "only samples of these threads"},
	{name: "cpu", kind: "integer", repeatable: true, doc: "only samples on these CPUs"},
	{name: "pid", kind: "integer", repeatable: true, doc: "only samples of these processes"},
	{name: "between", kind: "string", repeatable: true, doc: queries.BetweenHelp},
	{name: "hide", kind: "string", repeatable: true, doc: queries.HideHelp},
	{name: "api-only", kind: "string", repeatable: true, doc: queries.APIOnlyHelp},
}

// filter returns the filter in a call's parameters.
func (c *call) filter(mode string, inline bool) (f queries.Filter, err error) {
	f = queries.Filter{Where: c.values["where"], Between: c.values["between"], Hide: c.values["hide"], APIOnly: c.values["api-only"], Mode: mode, Inline: inline}
	for _, n := range []struct {
		name string
		to   *[]int64
	}{{"thread", &f.Threads}, {"cpu", &f.CPUs}, {"pid", &f.PIDs}} {
		if *n.to, err = c.intValues(n.name); err != nil {
			return f, err
		}
	}
	return f, nil
}

// intValues returns the values of an integer parameter.
func (c *call) intValues(name string) (of []int64, err error) {
	for _, text := range c.values[name] {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, badRequest(fmt.Errorf("%s: %q is not an integer", name, text))
		}
		of = append(of, v)
	}
	return of, nil
}

// intValue returns the value of a non-negative integer parameter, or otherwise if it is not given.
func (c *call) intValue(name string, otherwise int) (int, error) {
	text := c.values.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badRequest(fmt.Errorf("%s: %q is not a non-negative integer", name, text))
	}
	return n, nil
}

// numberInto sets a number to the value of a parameter, unless it is not given.
func (c *call) numberInto(name string, to *float64) error {
	text := c.values.Get(name)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return badRequest(fmt.Errorf("%s: %q is not a number", name, text))
	}
	*to = n
	return nil
}

// columns returns the names in the parameter columns; nil, which means all columns, if it is not given.
func (c *call) columns() []string {
	if c.values.Get("columns") == "" {
		return nil
	}
	return strings.Split(c.values.Get("columns"), ",")
}

// open opens the experiments and samples that a call selects, and adds warnings about them to the answer. done closes
// them.
func (w *job) open(f queries.Filter, reads []string, selectors ...string) (db *queries.DB, done func(), err error) {
	db, done, err = w.from.session(w.ctx, selection{selectors, f, reads})
	if err != nil {
		return nil, nil, err
	}
	remarks, err := db.Remarks(w.ctx)
	if err != nil {
		done()
		return nil, nil, err
	}
	w.warnings, w.state = append(w.warnings, remarks...), db.State
	return db, done, nil
}

// openMetric is open for answers about one metric. It also warns if the default metric is another one because of the
// filter.
func (w *job) openMetric(f queries.Filter, reads []string, selectors ...string) (db *queries.DB, done func(), err error) {
	db, done, err = w.open(f, reads, selectors...)
	if err != nil || w.values.Get("metric") != "" {
		return db, done, err
	}
	remark, err := db.MetricRemark(w.ctx)
	if err != nil {
		done()
		return nil, nil, err
	}
	if remark != "" {
		w.warn("%s", remark)
	}
	return db, done, nil
}

// warn adds a warning to the answer.
func (w *job) warn(format string, args ...any) {
	w.warnings = append(w.warnings, fmt.Sprintf(format, args...))
}
