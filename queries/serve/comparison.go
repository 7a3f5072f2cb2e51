package serve

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"stackmill/queries/compare"
	"stackmill/queries/result"
)

// comparison answers with what differs between two groups of experiments, as the program's
// verb compare prints it.
func comparison(w *work) error {
	r, v := compare.Usual, w.values
	r.Base, r.Test, r.Metric, r.Inclusive = v["base"], v["test"], v.Get("metric"), v.Get("inclusive") == "true"
	r.By, r.Mode, r.Normalise = cmp.Or(v.Get("by"), r.By), cmp.Or(v.Get("mode"), r.Mode), cmp.Or(v.Get("normalise"), r.Normalise)
	for _, n := range []struct {
		name string
		to   *float64
	}{{"fdr", &r.FDR}, {"level", &r.Level}, {"min-change", &r.MinChange}, {"min-share", &r.MinShare}} {
		if text := v.Get(n.name); text != "" {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return wrong(fmt.Errorf("%s: %q is no number", n.name, text))
			}
			*n.to = x
		}
	}
	if err := r.Check(); err != nil {
		return wrong(err)
	}
	limit, err := w.number("limit", 0)
	if err != nil {
		return err
	}
	f, err := w.filter(r.Mode, false)
	if err != nil {
		return err
	}
	if r.Where, err = f.Conditions(); err != nil {
		return err
	}
	db, done, err := w.open(f, r.Reads(), slices.Concat(r.Base, r.Test)...)
	if err != nil {
		return err
	}
	defer done()
	r.Hidden = db.HiddenFunctions()
	compared, err := compare.Run(w.ctx, db, r)
	if err != nil {
		return unlessEngine(err)
	}
	rows := compared.Rows
	if limit > 0 && limit+1 < len(rows) { // besides <Total>
		rows = rows[:limit+1]
	}
	object, err := compared.Object(rows)
	if err != nil {
		return err
	}
	_, err = w.out.Write(result.Marshal(object))
	return err
}
