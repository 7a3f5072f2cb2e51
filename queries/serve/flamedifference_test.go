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
	Total       float64
	Level, Name []int
	Names       struct{ Name []string }
	Values      struct {
		Start, Width  []float64
		Base, Test    []float64
		BaseExclusive []float64 `json:"base_exclusive"`
		TestExclusive []float64 `json:"test_exclusive"`
	}
}

// A flame graph of differences has the means of both sides. Its widths leave room for
// both sides; a search sums both.
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
	for _, width := range []int{1, 2, 5, 10, 1000} {
		d := read(fmt.Sprintf("&width=%d", width))
		if d.Values.Base[0] != all.Values.Base[0] || d.Values.Test[0] != all.Values.Test[0] || d.Nodes != all.Nodes || width == 1000 && len(d.Level) != all.Nodes {
			t.Errorf("%d nodes, with %g and %g", len(d.Level), d.Values.Base[0], d.Values.Test[0])
		}
		for n, level := range d.Level {
			sums := [2]float64{d.Values.BaseExclusive[n], d.Values.TestExclusive[n]}
			for k := n + 1; k < len(d.Level) && d.Level[k] > level; k++ {
				if d.Level[k] == level+1 {
					sums[0], sums[1] = sums[0]+d.Values.Base[k], sums[1]+d.Values.Test[k]
				}
			}
			if d.Values.Width[n] < d.Total/float64(2*width) || width == 1000 && (math.Abs(sums[0]-d.Values.Base[n]) > 1 || math.Abs(sums[1]-d.Values.Test[n]) > 1) {
				t.Errorf("%d pixels, %s is %g and %g, %g wide, its parts are %v", width, d.Names.Name[d.Name[n]], d.Values.Base[n], d.Values.Test[n], d.Values.Width[n], sums)
			}
		}
	}
	half := read("&window=0.5,1")
	for n := range half.Level {
		if half.Values.Start[n]+half.Values.Width[n] <= all.Total/2 {
			t.Errorf("%s ends at %g", half.Names.Name[half.Name[n]], half.Values.Start[n]+half.Values.Width[n])
		}
	}
	var hits struct {
		Frames     int
		Base, Test float64
	}
	if err := json.Unmarshal([]byte(s.get("/api/v1/compare/flamegraph/search?base=base-*&test=test-*&search=/^(old|new|g)$/")), &hits); err != nil {
		t.Fatal(err)
	}
	if hits.Frames != 3 || hits.Base != 255e6 || hits.Test != 280e6 {
		t.Errorf("%+v", hits)
	}
}
