package serve

import (
	"cmp"
	"strings"

	"stackmill/queries"
	"stackmill/queries/digest"
)

// digestValues answers with the recent changes.
func digestValues(w *job) error {
	return w.digest(func(db *queries.DB, r digest.Request) (any, error) {
		result, err := digest.Run(w.ctx, db, r)
		if err != nil {
			return nil, err
		}
		return result.Object(), nil
	})
}

// changes answers with all series, their values by night, and their changes.
func changes(w *job) error {
	return w.digest(func(db *queries.DB, r digest.Request) (any, error) { return digest.Overview(w.ctx, db, r) })
}

// digest answers with the value that make returns for the request in the parameters.
func (w *job) digest(make func(*queries.DB, digest.Request) (any, error)) error {
	r, v := digest.Defaults(), w.values
	r.Selected = v["experiment"]
	r.Since, r.Order, r.Metric, r.Mode = cmp.Or(v.Get("since"), r.Since), cmp.Or(v.Get("order"), r.Order), v.Get("metric"), cmp.Or(v.Get("mode"), r.Mode)
	if text := v.Get("series"); text != "" {
		r.Series = strings.Split(text, ",")
	}
	var err error
	if r.Limit, err = w.intValue("limit", r.Limit); err != nil {
		return err
	}
	if r.Nights, err = w.intValue("nights", r.Nights); err != nil {
		return err
	}
	for _, n := range []struct {
		name string
		to   *float64
	}{{"fdr", &r.FDR}, {"min-share", &r.MinShare}} {
		if err := w.numberInto(n.name, n.to); err != nil {
			return err
		}
	}
	if err := r.Check(); err != nil {
		return badRequest(err)
	}
	f, err := w.filter(r.Mode, false)
	if err != nil {
		return err
	}
	db, done, err := w.openMetric(f, r.Reads(), v["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	object, err := make(db, r)
	if err != nil {
		return requestError(err)
	}
	return w.writeJSON(object)
}
