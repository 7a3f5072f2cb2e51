package serve

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"stackmill/queries/export"
)

const exportPath = "/api/v1/export"

// exportTypes are the media types of export formats; other formats are text.
var exportTypes = map[string]string{"pprof": pprofType, "pgo": pprofType, "speedscope": jsonType, "firefox": jsonType, "html": htmlType, "svg": svgType}

// exportStacks answers with the stacks of experiments in another tool's format.
func exportStacks(w *job) error {
	r := export.Request{As: w.values.Get("as"), Metric: w.values.Get("metric"), Mode: cmp.Or(w.values.Get("mode"), "user"), Inline: w.values.Get("inline") == "true", By: w.values.Get("by")}
	if err := r.Check(); err != nil {
		return badRequest(err)
	}
	f, err := w.filter(r.Mode, r.Inline)
	if err != nil {
		return err
	}
	if r.Filter, err = f.Conditions(); err != nil {
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
	if w.columnsOnly {
		return requestError(export.Possible(w.ctx, db, r))
	}
	return requestError(export.Write(w.ctx, db, r, w.out))
}

// exportCall returns the call that exports, in the format `as`, what a viewer's URL selects.
func exportCall(asked url.Values, as string) (*call, error) {
	asked.Set("as", as)
	i := slices.IndexFunc(endpoints, func(e endpoint) bool { return e.path == exportPath })
	return endpoints[i].call(&http.Request{Method: http.MethodGet, URL: &url.URL{RawQuery: asked.Encode()}})
}
