package serve

import (
	"cmp"
	"errors"

	"stackmill/queries/trend"
)

// trendValues answers with values over experiments, in the order of their starts or of a label.
func trendValues(w *job) error {
	r, v := trend.Defaults(), w.values
	r.Metric, r.Function, r.Inclusive = v.Get("metric"), v.Get("function"), v.Get("inclusive") == "true"
	r.Mode, r.Normalize = cmp.Or(v.Get("mode"), r.Mode), cmp.Or(v.Get("normalise"), r.Normalize)
	r.Order, r.By = cmp.Or(v.Get("order"), r.Order), v.Get("by")
	var err error
	if r.Limit, err = w.intValue("limit", r.Limit); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return badRequest(err)
	}
	if v.Has("limit") && r.Function == "" {
		return badRequest(errors.New("limit needs function: without a function, only <Total> is shown"))
	}
	f, err := w.filter(r.Mode, false)
	if err != nil {
		return err
	}
	if r.Function == "" && len(f.Hide)+len(f.APIOnly) > 0 {
		return badRequest(errors.New("hide and api-only need function: the values of <Total> do not depend on functions"))
	}
	db, done, err := w.openMetric(f, r.Reads(), v["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	followed, err := trend.Run(w.ctx, db, r)
	if err != nil {
		return requestError(err)
	}
	return w.writeJSON(followed.Object())
}
