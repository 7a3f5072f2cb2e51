package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"stackmill/queries/storetest"
)

// difference has the fields of the answer that the test reads.
type difference struct {
	Nodes       int
	Level, Name []int
	Names       struct{ Name []string }
	Values      struct {
		Base, Test    []float64
		BaseExclusive []float64 `json:"base_exclusive"`
		TestExclusive []float64 `json:"test_exclusive"`
	}
}

// A flame graph of differences has the means of both sides. If the number of nodes is limited, sums stay the same.
func TestFlameDifference(t *testing.T) {
	base := []map[string]int{{"f": 100, "g": 200, "old": 50}, {"f": 110, "g": 190, "old": 70}}
	test := []map[string]int{{"f": 100, "g": 260, "new": 30}, {"f": 120, "g": 240}, {"f": 110, "g": 250, "new": 60}}
	s := start(t, storetest.New(t, storetest.Groups("clock", base, test)), nil)
	read := func(query string) (d difference) {
		t.Helper()
		if err := json.Unmarshal([]byte(s.get("/api/v1/compare/flamegraph?base=base-*&test=test-*"+query)), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	all := read("")
	if len(all.Level) != all.Nodes {
		t.Errorf("%d nodes of %d", len(all.Level), all.Nodes)
	}
	found := map[string][2]float64{}
	for i, n := range all.Name {
		found[all.Names.Name[n]] = [2]float64{all.Values.BaseExclusive[i] / 1e6, all.Values.TestExclusive[i] / 1e6}
	}
	for name, want := range map[string][2]float64{"f": {105, 110}, "g": {195, 250}, "old": {60, 0}, "new": {0, 30}} {
		if found[name] != want {
			t.Errorf("%s has %v, want %v", name, found[name], want)
		}
	}
	for most := 1; most <= all.Nodes; most++ {
		d := read(fmt.Sprintf("&nodes=%d", most))
		if len(d.Level) > max(most, 2) || d.Values.Base[0] != all.Values.Base[0] || d.Values.Test[0] != all.Values.Test[0] {
			t.Errorf("%d nodes of at most %d, with %g and %g", len(d.Level), most, d.Values.Base[0], d.Values.Test[0])
		}
		for n, level := range d.Level {
			sums := [2]float64{d.Values.BaseExclusive[n], d.Values.TestExclusive[n]}
			for k := n + 1; k < len(d.Level) && d.Level[k] > level; k++ {
				if d.Level[k] == level+1 {
					sums[0], sums[1] = sums[0]+d.Values.Base[k], sums[1]+d.Values.Test[k]
				}
			}
			if math.Abs(sums[0]-d.Values.Base[n]) > 1 || math.Abs(sums[1]-d.Values.Test[n]) > 1 {
				t.Errorf("of %d nodes, %s is %g and %g, its parts are %v", most, d.Names.Name[d.Name[n]], d.Values.Base[n], d.Values.Test[n], sums)
			}
		}
	}
}
