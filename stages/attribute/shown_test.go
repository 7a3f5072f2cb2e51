package attribute

import (
	"slices"
	"testing"

	"stackmill/schema"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// Reports show the first metric that has values, unless the recording prefers one.
func TestShownInstead(t *testing.T) {
	for _, test := range []struct {
		name    string
		metrics []schema.Metric
		values  []int64
		want    []int
	}{
		{"the first has values", []schema.Metric{{Name: "sync"}, {Name: "heapalloccnt"}}, []int64{1, 2}, nil},
		{"only another one has", []schema.Metric{{Name: "sync"}, {Name: "heapalloccnt"}}, []int64{0, 2}, []int{1}},
		{"in the order of metrics, not of the list", []schema.Metric{{Name: "a"}, {Name: "heapalloccnt"}, {Name: "sync"}}, []int64{1, 2, 0}, []int{1}},
		{"negative", []schema.Metric{{Name: "a"}, {Name: "b"}}, []int64{0, -1}, []int{1}},
		{"none has", []schema.Metric{{Name: "sync"}, {Name: "heapalloccnt"}}, []int64{0, 0}, nil},
		{"one is preferred", []schema.Metric{{Name: "a", Preferred: true}, {Name: "b"}}, []int64{0, 2}, nil},
		{"no metric", nil, nil, nil},
		{"only another one of data objects has", []schema.Metric{{Name: "a"}, {Name: "b", Data: true}, {Name: "c", Data: true}}, []int64{1, 0, 3}, []int{0, 2}},
		{"the first of data objects has", []schema.Metric{{Name: "a"}, {Name: "b", Data: true}, {Name: "c", Data: true}}, []int64{1, 2, 3}, nil},
		{"that of data objects is the first that has", []schema.Metric{{Name: "a"}, {Name: "b", Data: true}}, []int64{0, 2}, []int{1, 1}},
		{"none of data objects has", []schema.Metric{{Name: "a"}, {Name: "b", Data: true}, {Name: "c"}}, []int64{0, 0, 3}, []int{2}},
	} {
		r := &Result{Stacks: NewStacks(), Sums: NewSums(test.metrics)}
		addStack(r.Stacks, map[stacktree.Mode][]program.LocationNo{stacktree.User: {0}})
		for m, value := range test.values {
			if value != 0 {
				r.Sums.At(0, m).Add(value)
			}
		}
		if got := r.shownInstead(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
