package serve

import (
	"cmp"
	"errors"

	"stackmill/queries/export"
)

// exportPath is where stacks are asked for.
const exportPath = "/api/v1/export"

// exportTypes are the media types of what is exported; others are texts.
var exportTypes = map[string]string{"pprof": "application/vnd.google.protobuf+gzip", "speedscope": jsonType, "firefox": jsonType}

// exported answers with the stacks of the experiments, as another tool reads them.
func exported(w *work) error {
	r := export.Request{As: w.values.Get("as"), Metric: w.values.Get("metric"), Mode: cmp.Or(w.values.Get("mode"), "user")}
	if err := r.Check(); err != nil {
		return wrong(err)
	}
	f, err := w.filter(r.Mode, false)
	if err != nil {
		return err
	}
	db, done, err := w.open(f, r.Reads(), w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	if w.kind = exportTypes[r.As]; w.kind == "" {
		w.kind = textType
	}
	if err := export.Write(w.ctx, db, r, w.out); err != nil {
		if errors.Is(err, export.ErrNothing) {
			return wrong(err)
		}
		return unlessEngine(err)
	}
	return nil
}
