package serve

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/result"
)

// comparison answers with what differs between two groups of experiments, as the program's
// verb compare prints it.
func comparison(w *work) error {
	limit, err := w.number("limit", 0)
	if err != nil {
		return err
	}
	return w.compare("", func(db *queries.DB, r compare.Request) (any, error) {
		compared, err := compare.Run(w.ctx, db, r)
		if err != nil {
			return nil, unlessEngine(err)
		}
		rows := compared.Rows
		if limit > 0 && limit+1 < len(rows) { // besides <Total>
			rows = rows[:limit+1]
		}
		return compared.Object(rows)
	})
}

// compare answers with what run makes of the comparison that a call's parameters say, by
// what they say unless it is given.
func (w *work) compare(by string, run func(*queries.DB, compare.Request) (any, error)) error {
	r, err := comparisonRequest(w)
	if err != nil {
		return err
	}
	r.By = cmp.Or(by, r.By)
	db, done, err := w.openCompared(&r)
	if err != nil {
		return err
	}
	defer done()
	object, err := run(db, r)
	if err != nil {
		return err
	}
	_, err = w.out.Write(result.Marshal(object))
	return err
}

// comparisonRequest is what a call's parameters say of a comparison.
func comparisonRequest(w *work) (compare.Request, error) {
	r, v := compare.Defaults(), w.values
	r.Base, r.Test, r.Metric, r.Inclusive = v["base"], v["test"], v.Get("metric"), v.Get("inclusive") == "true"
	r.By, r.Mode, r.Normalize = cmp.Or(v.Get("by"), r.By), cmp.Or(v.Get("mode"), r.Mode), cmp.Or(v.Get("normalise"), r.Normalize)
	for _, n := range []struct {
		name string
		to   *float64
	}{{"fdr", &r.FDR}, {"level", &r.Level}, {"min-change", &r.MinChange}, {"min-share", &r.MinShare}} {
		if text := v.Get(n.name); text != "" {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return r, wrong(fmt.Errorf("%s: %q is no number", n.name, text))
			}
			*n.to = x
		}
	}
	if err := r.Check(); err != nil {
		return r, wrong(err)
	}
	return r, nil
}

// openCompared opens the part of the store that a comparison is about.
func (w *work) openCompared(r *compare.Request) (db *queries.DB, done func(), err error) {
	f, err := w.filter(r.Mode, false)
	if err != nil {
		return nil, nil, err
	}
	if err := r.Choose(&f); err != nil {
		return nil, nil, wrong(err)
	}
	if db, done, err = w.open(f, r.Reads(), slices.Concat(r.Base, r.Test)...); err != nil {
		return nil, nil, err
	}
	r.Hidden = db.HiddenFunctions()
	return db, done, nil
}

// flameDifference answers with the call trees of two groups of experiments as one: of each
// path what the runs of either side have of it on average. The nodes are in columns, as those
// of a flame graph.
func flameDifference(w *work) error {
	most, err := w.number("nodes", usualNodes)
	if err != nil {
		return err
	}
	return w.compare("path", func(db *queries.DB, r compare.Request) (any, error) {
		t, err := compare.Trees(w.ctx, db, r)
		if err != nil {
			return nil, unlessEngine(err)
		}
		return differenceOf(t, max(most, 1)), nil
	})
}

// What comparisons have in common, besides normaliseParameter.
var (
	baseParameter     = parameter{name: "base", kind: "string", several: true, required: true, does: "the experiments that are the reference: a selector, as in experiment"}
	testParameter     = parameter{name: "test", kind: "string", several: true, required: true, does: "those that are compared with it"}
	comparedParameter = parameter{name: "metric", kind: "string", does: "the metric; by default the first that most of the experiments have"}
)
