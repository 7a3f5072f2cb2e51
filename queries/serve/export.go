package serve

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"stackmill/queries/export"
)

// exportPath is where stacks are asked for.
const exportPath = "/api/v1/export"

// exportTypes are the media types of what is exported; others are texts.
var exportTypes = map[string]string{"pprof": pprofType, "pgo": pprofType, "speedscope": jsonType, "firefox": jsonType}

// exported answers with the stacks of the experiments, as another tool reads them.
func exported(w *work) error {
	r := export.Request{As: w.values.Get("as"), Metric: w.values.Get("metric"), Mode: cmp.Or(w.values.Get("mode"), "user"), Inline: w.values.Get("inline") == "true", By: w.values.Get("by")}
	if err := r.Check(); err != nil {
		return wrong(err)
	}
	f, err := w.filter(r.Mode, r.Inline)
	if err != nil {
		return err
	}
	db, done, err := w.openMetric(f, r.Reads(), w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	if w.kind = exportTypes[r.As]; w.kind == "" {
		w.kind = textType
	}
	if w.empty {
		return unlessEngine(export.Possible(w.ctx, db, r))
	}
	return unlessEngine(export.Write(w.ctx, db, r, w.out))
}

// exportCall is the call of what a query asks to be written in a format, for viewers.
func exportCall(asked url.Values, as string) (*call, error) {
	asked.Set("as", as)
	i := slices.IndexFunc(endpoints, func(e endpoint) bool { return e.path == exportPath })
	return endpoints[i].call(&http.Request{Method: http.MethodGet, URL: &url.URL{RawQuery: asked.Encode()}})
}
