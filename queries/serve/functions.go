package serve

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"stackmill/queries"
	"stackmill/queries/flametree"
	"stackmill/queries/functions"
	"stackmill/queries/report"
)

// tableLimit is the number of rows of an answer without a limit; mostTableRows the largest limit.
const (
	tableLimit    = 200
	mostTableRows = 5000
)

// functionTable answers with a part of the table of functions, modules or load objects, in the sum of the experiments.
func functionTable(w *job) error {
	r, err := w.tableRequest()
	if err != nil {
		return err
	}
	v := w.values
	f, err := w.filter(w.mode(), w.inline())
	if err != nil {
		return err
	}
	db, done, err := w.openMetric(f, functions.TableReads(r.Group), v["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	if r.Metrics, err = w.measures(db); err != nil {
		return err
	}
	var base *queries.DB
	if len(v["base"]) > 0 {
		var done func()
		if base, done, err = w.open(f, functions.TableReads(r.Group), v["base"]...); err != nil {
			return err
		}
		defer done()
	}
	r.Layout = func(ofBase bool, m *functions.Measure) (*flametree.Layout[int64], error) {
		if ofBase {
			return w.layoutOf(v["base"], m.Metric)
		}
		return w.layoutOf(v["experiment"], m.Metric)
	}
	t, err := functions.Read(w.ctx, db, base, r)
	if err != nil {
		return requestError(err)
	}
	for i := range t.Metrics {
		m := &t.Metrics[i]
		if m.Whole, err = w.whole(f, m.Total, &r.Metrics[i], v["experiment"]...); err != nil {
			return err
		}
	}
	return w.writeJSON(t)
}

// tableRequest returns the request for a table in a call's parameters, without its metrics.
func (w *job) tableRequest() (*functions.TableRequest, error) {
	v := w.values
	r := &functions.TableRequest{Group: v.Get("rows"), Runs: v.Get("runs") == "true", Search: v.Get("search"), Sort: v.Get("sort")}
	if r.Group == "" {
		r.Group = functions.Groups[0]
	}
	var err error
	if r.Offset, err = w.intValue("offset", 0); err != nil {
		return nil, err
	}
	if r.Limit, err = w.intValue("limit", tableLimit); err != nil {
		return nil, err
	}
	if r.Limit > mostTableRows {
		return nil, badRequest(fmt.Errorf("limit: %d is more than %d (use offset for the next rows)", r.Limit, mostTableRows))
	}
	if !utf8.ValidString(r.Search) {
		return nil, badRequest(fmt.Errorf("search: %q is not UTF-8", r.Search))
	}
	if text := v.Get("columns"); text != "" {
		r.Extras = strings.Split(text, ",")
	}
	for _, c := range r.Extras {
		if !slices.Contains(functions.Extras, c) {
			return nil, badRequest(fmt.Errorf("columns: no column %q (choose some of %s)", c, strings.Join(functions.Extras, ", ")))
		}
	}
	return r, nil
}

// measures returns the metrics that a call requests: without any, the default of most experiments of db.
func (w *job) measures(db *queries.DB) ([]functions.Measure, error) {
	list := w.values.Get("metric")
	known, err := db.Metrics(w.ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	units := map[string]string{}
	for _, m := range known {
		names, units[m.Name] = append(names, m.Name), m.Unit
	}
	chosen := names[:min(len(names), 1)]
	if list != "" && list != "all" {
		if chosen, err = report.MetricsOf(names, list); err != nil {
			return nil, badRequest(err)
		}
	} else if list == "all" {
		chosen = names
	}
	var of []functions.Measure
	for _, name := range chosen {
		of = append(of, functions.Measure{Metric: name, Unit: units[name], Mode: w.mode(), Inline: w.inline()})
	}
	if of == nil { // the experiments have no metrics
		of = []functions.Measure{{Mode: w.mode(), Inline: w.inline()}}
	}
	return of, nil
}
