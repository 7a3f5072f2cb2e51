package compare

import (
	"testing"

	"stackmill/queries"
)

// Of metrics that most experiments have, those that they prefer come first, in the order of
// reports.
func TestFirstMetric(t *testing.T) {
	named := func(id string) (e queries.Experiment) { e.ExperimentID = id; return e }
	c := &comparison{}
	c.Result.Base.Runs = []queries.Experiment{named("a")}
	c.Result.Test.Runs = []queries.Experiment{named("b"), named("c")}
	record := func(metric string, preferred bool, ids ...any) queries.Record {
		return queries.Record{"metric": metric, "preferred": preferred, "ids": ids}
	}
	for _, test := range []struct {
		want    string
		records []queries.Record
	}{
		{"", []queries.Record{record("heapalloccnt", true, "a"), record("sync", false, "b", "c")}},
		{"sync", []queries.Record{record("heapalloccnt", false, "a", "b", "c"), record("sync", false, "a", "b", "c")}},
		{"heapalloccnt", []queries.Record{record("heapalloccnt", true, "a", "b", "c"), record("sync", false, "a", "b", "c")}},
		{"sync", []queries.Record{record("heapalloccnt", true, "a", "b", "c"), record("sync", true, "a", "b", "c")}},
		{"sync", []queries.Record{record("cycles", true, "a", "b", "c"), record("sync", true, "a", "b", "c")}},
		{"cycles", []queries.Record{record("cycles", true, "a", "b", "c"), record("instructions", true, "a", "b", "c"), record("sync", false, "a", "b", "c")}},
		{"sync", []queries.Record{record("heapalloccnt", true, "a", "b"), record("sync", false, "a", "b", "c")}},
	} {
		if got := c.firstMetric(test.records); got != test.want {
			t.Errorf("%v: %q, want %q", test.records, got, test.want)
		}
	}
}
