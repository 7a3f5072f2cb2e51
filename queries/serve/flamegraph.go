package serve

import (
	"cmp"
	"context"
	"fmt"

	"stackmill/queries"
)

// usualNodes is how many nodes a flame graph has without a wish.
const usualNodes = 10_000

// flameForms are the forms of a flame graph: `tree` is the nodes as objects with their
// children, `columns` the same nodes as columns, in the order in which they are drawn.
var flameForms = []string{"tree", "columns"}

// flamegraph answers with the call trees of the experiments, merged: `{name, value,
// exclusive, children}`, where exclusive and the children's values sum to the value. The
// nodes with the highest values are kept; what is left out below a node is in one named
// `<N more>`. Another side of the tree is made of all of it, and cut afterwards.
func flamegraph(w *work) error {
	mode, inline := cmp.Or(w.values.Get("mode"), "user"), w.values.Get("inline") == "true"
	most, err := w.number("nodes", usualNodes)
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
	metric, unit, err := usualMetric(w.ctx, db, w.values.Get("metric"))
	if err != nil {
		return err
	}
	t, err := readFlameTree(w.ctx, db, metric, mode, inline)
	if err != nil {
		return err
	}
	head := flameHead{metric, unit, mode, db.Count, len(t.nodes), t.total(), side}
	cut := t.cut
	if side.side != "" {
		cut = func(most int) flameCut { return t.seen(side, most) }
	}
	_, err = w.out.Write(cut(max(most, 1)).json(head, w.values.Get("form") == "columns"))
	return err
}

// usualMetric returns the metric that is asked for, or the one that most experiments show
// first, and its unit.
func usualMetric(ctx context.Context, db *queries.DB, asked string) (metric, unit string, err error) {
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
	if asked == "" { // nothing was recorded
		return "", "", nil
	}
	return "", "", wrong(fmt.Errorf("no metric %q%s", asked, queries.Suggest(asked, known)))
}
