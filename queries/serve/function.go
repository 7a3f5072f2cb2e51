package serve

import (
	"cmp"

	"stackmill/queries"
	"stackmill/queries/functions"
)

// mode and inline return how stacks are shown.
func (c *call) mode() string { return cmp.Or(c.values.Get("mode"), "user") }
func (c *call) inline() bool { return c.values.Get("inline") == "true" }

// measure returns the metric and mode that a call requests: without a metric, the default of most experiments of db.
func (w *job) measure(db *queries.DB) (m functions.Measure, err error) {
	m.Mode, m.Inline = w.mode(), w.inline()
	m.Metric, m.Unit, err = chooseMetric(w.ctx, db, w.values.Get("metric"))
	return m, err
}

// oneFunction answers with one function: its values, callers and callees, and position.
func oneFunction(w *job) error {
	limit, err := w.intValue("limit", 0)
	if err != nil {
		return err
	}
	v := w.values
	f, err := w.filter(w.mode(), w.inline())
	if err != nil {
		return err
	}
	db, done, err := w.openMetric(f, functions.Reads(), v["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	r := &functions.Request{Function: v.Get("function"), LoadObject: v.Get("load-object"), Module: v.Get("module"), Limit: limit}
	if r.Measure, err = w.measure(db); err != nil {
		return err
	}
	one, err := functions.One(w.ctx, db, r)
	if err != nil {
		return requestError(err)
	}
	if one.Whole, err = w.whole(f, one.Total, &r.Measure, v["experiment"]...); err != nil {
		return err
	}
	if len(v["base"]) > 0 {
		base, done, err := w.open(f, functions.Reads(), v["base"]...)
		if err != nil {
			return err
		}
		defer done()
		if err := one.Against(w.ctx, base); err != nil {
			return err
		}
	}
	return w.writeJSON(one)
}

// whole returns the value of <Total> without the call's filter. left is its value with it.
func (w *job) whole(f queries.Filter, left functions.Value, m *functions.Measure, selectors ...string) (functions.Value, error) {
	if f.IsEmpty() {
		return left, nil
	}
	db, done, err := w.from.session(w.ctx, selection{selectors: selectors})
	if err != nil {
		return 0, err
	}
	defer done()
	return functions.Total(w.ctx, db, m)
}
