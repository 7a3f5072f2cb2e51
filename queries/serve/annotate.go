package serve

import (
	"cmp"

	"stackmill/queries/annotate"
)

// annotated answers with the source and the instructions of a function.
func annotated(w *job) error {
	v := w.values
	r := annotate.Request{Metric: v.Get("metric"), Mode: cmp.Or(v.Get("mode"), "user"), Function: v.Get("function"), Key: v.Get("key"), Build: v.Get("build"), File: v.Get("file")}
	f, err := w.filter(r.Mode, false)
	if err != nil {
		return err
	}
	db, done, err := w.openMetric(f, annotate.Reads(), v["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	result, err := annotate.Run(w.ctx, db, r)
	if err != nil {
		return requestError(err)
	}
	for _, text := range result.Warnings {
		w.warn("%s", text)
	}
	return w.writeJSON(result)
}
