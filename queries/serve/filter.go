package serve

import (
	"fmt"
	"strconv"
	"strings"

	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/report"
)

// The parameters that several endpoints have.
var (
	experimentParameter = parameter{name: "experiment", kind: "string", several: true, does: "only these experiments: " + queries.SelectorHelp}
	metricParameter     = parameter{name: "metric", kind: "string", does: "the metric; by default the first of each experiment"}
	modeParameter       = parameter{name: "mode", kind: "string", one: report.Modes, does: "the representation; by default user"}
	limitParameter      = parameter{name: "limit", kind: "integer", does: "at most this many rows of each experiment and metric"}
	columnsParameter    = parameter{name: "columns", kind: "string", does: "only these columns, with commas between them"}
	normaliseParameter  = parameter{name: "normalise", kind: "string", one: compare.Normalizations, does: "how values of runs of different length are made comparable; by default not at all"}
	inlineParameter     = parameter{name: "inline", kind: "boolean", one: []string{"true", "false"}, does: "show inlined functions as functions of their own"}
)

// filterParameters say which samples count, and which functions are shown.
var filterParameters = []parameter{
	{name: "where", kind: "string", several: true, does: queries.WhereHelp},
	{name: "thread", kind: "integer", several: true, does: "only samples of these threads"},
	{name: "cpu", kind: "integer", several: true, does: "only samples on these CPUs"},
	{name: "pid", kind: "integer", several: true, does: "only samples of these processes"},
	{name: "between", kind: "string", several: true, does: queries.BetweenHelp},
	{name: "hide", kind: "string", several: true, does: queries.HideHelp},
	{name: "api-only", kind: "string", several: true, does: queries.APIOnlyHelp},
}

// filter is what a call's parameters say of samples and functions.
func (c *call) filter(mode string, inline bool) (f queries.Filter, err error) {
	f = queries.Filter{Where: c.values["where"], Between: c.values["between"], Hide: c.values["hide"], APIOnly: c.values["api-only"], Mode: mode, Inline: inline}
	for _, n := range []struct {
		name string
		to   *[]int64
	}{{"thread", &f.Threads}, {"cpu", &f.CPUs}, {"pid", &f.PIDs}} {
		for _, text := range c.values[n.name] {
			v, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return f, wrong(fmt.Errorf("%s: %q is no whole number", n.name, text))
			}
			*n.to = append(*n.to, v)
		}
	}
	return f, nil
}

// number is the value of a parameter that is a whole number, otherwise that is not given.
func (c *call) number(name string, otherwise int) (int, error) {
	text := c.values.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, wrong(fmt.Errorf("%s: %q is no whole number from 0", name, text))
	}
	return n, nil
}

// columns are those that a call asks for; nil for all.
func (c *call) columns() []string {
	if c.values.Get("columns") == "" {
		return nil
	}
	return strings.Split(c.values.Get("columns"), ",")
}

// open opens the part of the store that a call is about; done ends its use.
func (w *work) open(f queries.Filter, reads []string, selectors ...string) (db *queries.DB, done func(), err error) {
	db, done, err = w.from.session(w.ctx, scope{selectors, f, reads})
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

// openMetric is open for an answer that is about one metric: if none is asked for, it says where
// the filter makes that another one than usual.
func (w *work) openMetric(f queries.Filter, reads []string, selectors ...string) (db *queries.DB, done func(), err error) {
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

// warn says something that whoever reads the answer should know.
func (w *work) warn(format string, args ...any) {
	w.warnings = append(w.warnings, fmt.Sprintf(format, args...))
}
