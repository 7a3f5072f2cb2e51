package compare

import (
	"math"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/storetest"
)

// A tree has the same paths as the rows of a comparison by path, and the means of the runs'
// inclusive and exclusive values.
func TestTrees(t *testing.T) {
	db := nights(t, "clock", storetest.Vary(5, map[string]int{"f": 100, "g": 200, "old": 50}), storetest.Vary(7, map[string]int{"f": 100, "g": 220, "h": 30}))
	for _, normalise := range Normalizations {
		r := Defaults()
		r.Base, r.Test, r.Normalize, r.By = []string{"base-*"}, []string{"test-*"}, normalise, "path"
		tree, err := Trees(t.Context(), db, r)
		if err != nil {
			t.Fatal(err)
		}
		paths := make([]string, len(tree.Nodes))
		at := map[string]Node{}
		for i, n := range tree.Nodes {
			if paths[i] = n.Function; n.Caller > 0 {
				paths[i] = paths[n.Caller] + ";" + n.Function
			}
			at[paths[i]] = n
		}
		if len(at) != len(tree.Nodes) || len(at) < 5 {
			t.Errorf("%d nodes are %d paths", len(tree.Nodes), len(at))
		}
		for _, r.Inclusive = range []bool{true, false} {
			result, err := Run(t.Context(), db, r)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range result.Rows {
				n, ok := at[row.Names[0]]
				if !ok {
					t.Errorf("%s is not in the tree", row.Names[0])
				}
				got := [2]float64{n.Base, n.Test}
				if !r.Inclusive && n.Caller >= 0 { // the row of <Total> has the inclusive value
					got = [2]float64{n.BaseExclusive, n.TestExclusive}
				}
				if base, test := mean(row.values[:5]), mean(row.values[5:]); far(got[0], base) || far(got[1], test) {
					t.Errorf("%s, %s, inclusive %t: %v, rows have %g and %g", normalise, row.Names[0], r.Inclusive, got, base, test)
				}
			}
			if r.Inclusive && len(result.Rows) != len(at) {
				t.Errorf("%d paths, rows are %d", len(at), len(result.Rows))
			}
		}
		for name, want := range map[string][2]bool{"old": {true, false}, "h": {false, true}, "f": {true, true}} {
			found := false
			for path, n := range at {
				if strings.HasSuffix(path, name) && [2]bool{n.Base > 0, n.Test > 0} == want {
					found = true
				}
			}
			if !found {
				t.Errorf("%s is not as %v", name, want)
			}
		}
	}
}

func mean(values []float64) float64 { return Sum(values) / float64(len(values)) }

func far(a, b float64) bool { return math.Abs(a-b) > 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// Values per second are NaN if a run's duration is unknown.
func TestUnknownTime(t *testing.T) {
	a, b := queries.Experiment{}, queries.Experiment{}
	a.Name, b.Name = "a.er", "b.er"
	c := &comparison{Result: Result{Request: Request{Normalize: "run"}}, runs: make([]run, 2)}
	c.Result.Base.Runs, c.Result.Test.Runs = []queries.Experiment{a}, []queries.Experiment{b}
	c.runs[0].seconds = 1
	if err := c.normalize(nil); err == nil || !strings.Contains(err.Error(), "duration of b.er") {
		t.Errorf("got %v", err)
	}
}
