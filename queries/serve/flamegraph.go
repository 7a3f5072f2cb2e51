package serve

import (
	"cmp"
	"context"
	"fmt"

	"stackmill/queries"
	"stackmill/queries/flametree"
)

// defaultNodes is the default number of nodes of a flame graph.
const defaultNodes = 10_000

// flameForms are the JSON forms of a flame graph: `tree` nests nodes as objects, `columns` has a list for each
// property of the nodes, in drawing order.
var flameForms = []string{"tree", "columns"}

// flamegraph answers with the merged call trees of the experiments. Nodes are `{name, value, exclusive, children}`:
// exclusive plus the children's values is value. It keeps the nodes with the highest values; a child `<N more>` has
// the sums of its siblings that are left out. Other sides are made from the complete tree and cut afterwards.
func flamegraph(w *job) error {
	mode, inline := cmp.Or(w.values.Get("mode"), "user"), w.values.Get("inline") == "true"
	most, err := w.intValue("nodes", defaultNodes)
	if err != nil {
		return err
	}
	side, err := w.flameSide()
	if err != nil {
		return err
	}
	f, err := w.filter(mode, inline)
	if err != nil {
		return err
	}
	db, done, err := w.openMetric(f, []string{"flame", "modules"}, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	metric, unit, err := chooseMetric(w.ctx, db, w.values.Get("metric"))
	if err != nil {
		return err
	}
	t, err := readFlameTree(w.ctx, db, metric, mode, inline)
	if err != nil {
		return err
	}
	head := flametree.Head{Metric: metric, Unit: unit, Mode: mode, Experiments: db.Count, Nodes: len(t.Nodes), Total: t.Total(), Side: side}
	cut := t.Cut
	if side.Side != "" {
		cut = func(most int) flametree.Cut { return t.FromSide(side, most) }
	}
	_, err = w.out.Write(cut(max(most, 1)).JSON(head, w.values.Get("form") == "columns"))
	return err
}

// flameSide returns the side that a call requests.
func (c *call) flameSide() (flametree.Side, error) {
	s := flametree.Side{Side: c.values.Get("side"), Group: cmp.Or(c.values.Get("group"), flametree.Groups[0]), Of: c.values.Get("of")}
	if around := s.Side == "callers" || s.Side == "callees"; around != c.values.Has("of") {
		return s, badRequest(fmt.Errorf("of: side callers and callees need it, other sides do not take it"))
	} else if !around && c.values.Has("group") {
		return s, badRequest(fmt.Errorf("group: give it only if side is callers or callees"))
	}
	return s, nil
}

// chooseMetric returns the requested metric and its unit; without a request, the metric that is the default of most
// experiments.
func chooseMetric(ctx context.Context, db *queries.DB, asked string) (metric, unit string, err error) {
	found, err := db.Metrics(ctx)
	if err != nil {
		return "", "", err
	}
	var known []string
	for _, m := range found {
		if asked == "" || m.Name == asked {
			return m.Name, m.Unit, nil
		}
		known = append(known, m.Name)
	}
	if asked == "" { // the experiments have no metrics
		return "", "", nil
	}
	return "", "", badRequest(fmt.Errorf("no metric %q%s", asked, queries.Suggest(asked, known)))
}
