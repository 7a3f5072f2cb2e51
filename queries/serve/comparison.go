package serve

import (
	"cmp"
	"slices"

	"stackmill/queries"
	"stackmill/queries/compare"
)

// comparison answers with the differences between two groups of experiments, as `stackmill compare` prints them.
func comparison(w *job) error {
	limit, err := w.intValue("limit", 0)
	if err != nil {
		return err
	}
	r, err := comparisonRequest(w)
	if err != nil {
		return err
	}
	db, done, err := w.openCompared(&r)
	if err != nil {
		return err
	}
	defer done()
	compared, err := compare.Run(w.ctx, db, r)
	if err != nil {
		return requestError(err)
	}
	rows := compared.Rows
	if judged := w.values.Get("judged"); judged != "" {
		rows = rowsOfSize(rows, judged == "true")
	}
	if limit > 0 && w.values.Get("judged") != "false" {
		limit++ // <Total> does not count
	}
	if limit > 0 && limit < len(rows) {
		rows = rows[:limit]
	}
	object, err := compared.Object(rows)
	if err != nil {
		return err
	}
	return w.writeJSON(object)
}

// rowsOfSize returns <Total> and the rows that are large enough to be judged, or the other rows.
func rowsOfSize(rows []compare.Row, judged bool) (list []compare.Row) {
	for i, r := range rows {
		if (i == 0 || r.Judged) == judged {
			list = append(list, r)
		}
	}
	return list
}

// comparisonRequest returns the comparison that a call's parameters select.
func comparisonRequest(w *job) (compare.Request, error) {
	r, v := compare.Defaults(), w.values
	r.Base, r.Test, r.Metric, r.Inclusive = v["base"], v["test"], v.Get("metric"), v.Get("inclusive") == "true"
	r.By, r.Mode, r.Normalize = cmp.Or(v.Get("by"), r.By), cmp.Or(v.Get("mode"), r.Mode), cmp.Or(v.Get("normalise"), r.Normalize)
	r.Pair, r.Block = v.Get("pair"), cmp.Or(v.Get("block"), r.Block)
	for _, n := range []struct {
		name string
		to   *float64
	}{{"fdr", &r.FDR}, {"level", &r.Level}, {"min-change", &r.MinChange}, {"min-share", &r.MinShare}} {
		if err := w.numberInto(n.name, n.to); err != nil {
			return r, err
		}
	}
	if err := r.Check(); err != nil {
		return r, badRequest(err)
	}
	return r, nil
}

// openCompared opens the experiments of both sides of a comparison, with the call's filter.
func (w *job) openCompared(r *compare.Request) (db *queries.DB, done func(), err error) {
	f, err := w.filter(r.Mode, false)
	if err != nil {
		return nil, nil, err
	}
	if err := r.Choose(&f); err != nil {
		return nil, nil, badRequest(err)
	}
	if db, done, err = w.open(f, r.Reads(), slices.Concat(r.Base, r.Test)...); err != nil {
		return nil, nil, err
	}
	r.Hidden = db.HiddenFunctions()
	return db, done, nil
}

// Parameters of comparisons.
var (
	baseParameter     = parameter{name: "base", kind: "string", repeatable: true, required: true, doc: "the reference experiments: a selector, as in experiment"}
	testParameter     = parameter{name: "test", kind: "string", repeatable: true, required: true, doc: "the experiments to compare with the reference"}
	comparedParameter = parameter{name: "metric", kind: "string", doc: "the metric; by default the default metric of most of the experiments"}
)

// differenceParameters select the two call trees of a difference flame graph.
var differenceParameters = slices.Concat([]parameter{baseParameter, testParameter, comparedParameter, modeParameter, normalizeParameter}, filterParameters)
