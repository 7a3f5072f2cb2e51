package serve

import (
	"cmp"
	"errors"

	"stackmill/queries/result"
	"stackmill/queries/trend"
)

// follow answers with values over experiments in the order of time.
func follow(w *work) error {
	r, v := trend.Defaults(), w.values
	r.Metric, r.Function, r.Inclusive = v.Get("metric"), v.Get("function"), v.Get("inclusive") == "true"
	r.Mode, r.Normalize = cmp.Or(v.Get("mode"), r.Mode), cmp.Or(v.Get("normalise"), r.Normalize)
	var err error
	if r.Limit, err = w.number("limit", r.Limit); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return wrong(err)
	}
	if v.Has("limit") && r.Function == "" {
		return wrong(errors.New("limit: it needs function: without one, <Total> alone is shown"))
	}
	f, err := w.filter(r.Mode, false)
	if err != nil {
		return err
	}
	if r.Function == "" && len(f.Hide)+len(f.APIOnly) > 0 {
		return wrong(errors.New("hide and api-only: they need function: the values of <Total> do not depend on functions"))
	}
	db, done, err := w.openMetric(f, r.Reads(), v["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	followed, err := trend.Run(w.ctx, db, r)
	if err != nil {
		return unlessEngine(err)
	}
	_, err = w.out.Write(result.Marshal(followed.Object()))
	return err
}
