package attribute

import (
	"testing"

	"stackmill/schema"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// Reports show the first metric that has values, unless the recording prefers one.
func TestShownInstead(t *testing.T) {
	for _, test := range []struct {
		name    string
		metrics []schema.Metric
		values  []int64
		want    int
	}{
		{"the first has values", []schema.Metric{{Name: "sync"}, {Name: "heapalloccnt"}}, []int64{1, 2}, symbolize.None},
		{"only another one has", []schema.Metric{{Name: "sync"}, {Name: "heapalloccnt"}}, []int64{0, 2}, 1},
		{"in the order of metrics, not of the list", []schema.Metric{{Name: "a"}, {Name: "heapalloccnt"}, {Name: "sync"}}, []int64{1, 2, 0}, 1},
		{"negative", []schema.Metric{{Name: "a"}, {Name: "b"}}, []int64{0, -1}, 1},
		{"none has", []schema.Metric{{Name: "sync"}, {Name: "heapalloccnt"}}, []int64{0, 0}, symbolize.None},
		{"one is preferred", []schema.Metric{{Name: "a", Preferred: true}, {Name: "b"}}, []int64{0, 2}, symbolize.None},
		{"no metric", nil, nil, symbolize.None},
	} {
		r := &Result{Stacks: NewStacks(), Sums: NewSums(test.metrics)}
		addStack(r.Stacks, map[unwind.Mode][]symbolize.LocationNo{unwind.User: {0}})
		for m, value := range test.values {
			if value != 0 {
				r.Sums.stack(0, m).add(value)
			}
		}
		if got := r.shownInstead(); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}
