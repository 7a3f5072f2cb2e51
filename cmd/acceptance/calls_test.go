package acceptance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/golden"
)

// neighbor is a row of callers or callees. Functions with the same name share one neighbor, and so
// do all blurred functions (see match).
type neighbor struct{ relation, name string }

const blurredName = "(blurred)"

// The attributed values between every two functions equal the golden's, in both directions.
func TestCallersCallees(t *testing.T) {
	for _, c := range compared {
		t.Run(c, func(t *testing.T) {
			x, m := readGolden(t, c), load(t, shared.DB, experiment(c))
			x = corrected(t, c, x)
			a := matchFunctions(t, x, m)
			ours := map[string]map[int64]map[neighbor][]int64{}
			for metric, edges := range m.edges {
				ours[metric] = map[int64]map[neighbor][]int64{}
				for e, v := range edges {
					if ours[metric][e.function] == nil {
						ours[metric][e.function] = map[neighbor][]int64{}
					}
					n := neighbor{e.relation, a.theirName(e.other)}
					ours[metric][e.function][n] = append(ours[metric][e.function][n], v)
				}
			}
			for i, block := range x.Blocks {
				if a.blurred[i] || a.ours[i] == 0 {
					continue
				}
				for k, col := range block.Columns {
					a.compareBlock(t, i, col.Metric, a.block(block, k), ours[col.Metric][a.ours[i]])
				}
			}
		})
	}
}

// theirName returns the golden's name of a function of the store.
func (a *match) theirName(id int64) string {
	i, ok := a.theirs[id]
	switch {
	case a.blurredIDs[id] || ok && a.blurred[i]:
		return blurredName
	case ok:
		return a.golden.Functions[i].Name
	}
	return "only in the store: " + a.model.functions[id].name
}

// block collects one column of a golden's block, by neighbor.
func (a *match) block(b golden.Table, column int) map[neighbor][]string {
	rows := map[neighbor][]string{}
	relation := "caller"
	for _, r := range b.Rows {
		n := neighbor{relation, r.Name}
		if r.Star {
			n.relation, relation = "self", "callee"
		} else if a.anyBlurred(r.Name) {
			n.name = blurredName
		}
		rows[n] = append(rows[n], r.Values[column])
	}
	return rows
}

func (a *match) anyBlurred(name string) bool {
	return slices.ContainsFunc(a.byName[name], func(i int) bool { return a.blurred[i] })
}

// compareBlock compares the neighbors of function i for one metric. A row in which this metric is 0
// may be missing on either side.
func (a *match) compareBlock(t *testing.T, i int, metric string, want map[neighbor][]string, got map[neighbor][]int64) {
	t.Helper()
	unit := a.model.units[metric]
	all := map[neighbor]bool{}
	for n := range want {
		all[n] = true
	}
	for n := range got {
		all[n] = true
	}
	for n := range all {
		where := fmt.Sprintf("%s: %s %s of %s", metric, n.relation, n.name, a.golden.Functions[i].Name)
		if n.name == blurredName {
			var w, g float64
			for _, s := range want[n] {
				w += number64(t, s)
			}
			for _, v := range got[n] {
				g += asPrinted(unit, v)
			}
			slack := 0.0005*float64(len(want[n])) + 1e-9
			if d := g - w; d > slack || d < -slack {
				t.Errorf("%s: %v, want %v", where, g, w)
			}
			continue
		}
		var g []string
		for _, v := range got[n] {
			if v != 0 {
				g = append(g, golden.Print(unit, v))
			}
		}
		w := slices.DeleteFunc(slices.Clone(want[n]), isZero)
		slices.Sort(g)
		slices.Sort(w)
		if !slices.Equal(g, w) {
			t.Errorf("%s: %v, want %v", where, g, w)
		}
	}
}

// The call tree of experiments without blurred functions equals the golden's, path by path.
func TestCallTree(t *testing.T) {
	for _, c := range compared {
		t.Run(c, func(t *testing.T) {
			x, m := readGolden(t, c), load(t, shared.DB, experiment(c))
			x = corrected(t, c, x)
			a := matchFunctions(t, x, m)
			if len(a.blurred) > 0 || x.Tree.Rows == nil {
				t.Skip("the golden's tree has functions that cannot be told apart")
			}
			for k, col := range x.Tree.Columns {
				want := map[string][]string{}
				var path []string
				for _, r := range x.Tree.Rows {
					path = append(path[:r.Depth], r.Name)
					if key := fmt.Sprint(path); !isZero(r.Values[k]) {
						want[key] = append(want[key], r.Values[k])
					}
				}
				got := a.treePaths(t, c, col.Metric)
				for _, values := range []map[string][]string{want, got} {
					for _, v := range values {
						slices.Sort(v)
					}
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s: golden - store +:\n%s", col.Metric, d)
				}
			}
		})
	}
}

// treePaths returns the store's tree nodes by the golden names on their paths.
func (a *match) treePaths(t *testing.T, c, metric string) map[string][]string {
	type node struct {
		id, parent, function, value int64
		depth                       int
	}
	var nodes []node
	query(t, shared.DB, func(r row) error {
		var n node
		err := r.Scan(&n.id, &n.parent, &n.function, &n.depth, &n.value)
		nodes = append(nodes, n)
		return err
	}, `SELECT node_id, coalesce(parent_id, 0), function_id, depth, attributed FROM call_tree
		WHERE experiment = ? AND mode = ? AND metric = ? ORDER BY depth`, experiment(c), goldenMode(c), metric)
	paths, values := map[int64][]string{}, map[string][]string{}
	for _, n := range nodes {
		var above []string
		if n.depth > 0 {
			above = paths[n.parent]
		}
		p := append(slices.Clone(above), a.theirName(n.function))
		paths[n.id] = p
		if n.value != 0 {
			key := fmt.Sprint(p)
			values[key] = append(values[key], golden.Print(a.model.units[metric], n.value))
		}
	}
	return values
}
