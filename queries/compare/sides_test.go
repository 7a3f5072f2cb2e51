package compare

import (
	"strings"
	"testing"

	"stackmill/queries"
)

// Of the metrics that most experiments have, the profiles' preferred ones come first, in the order
// of reports.
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

// Without a metric in common, the error says what each side has, and what to do.
func TestNoCommonMetric(t *testing.T) {
	named := func(id string) (e queries.Experiment) { e.ExperimentID = id; return e }
	record := func(metric string, ids ...any) queries.Record { return queries.Record{"metric": metric, "ids": ids} }
	for _, test := range []struct {
		by, asked string
		records   []queries.Record
		want      string
	}{
		{"function", "", []queries.Record{record("cpu-clock", "b", "c"), record("cpu-clock:u", "a"), record("faults", "c")},
			"the sides have no metric in common: the base has cpu-clock:u, the test has cpu-clock, faults in 1 of 2 (record both with the same events)"},
		{"function", "cpu-clock", []queries.Record{record("cpu-clock", "b", "c"), record("cpu-clock:u", "a")},
			"the metric cpu-clock is not on both sides: the base has cpu-clock:u, the test has cpu-clock (record both with the same events)"},
		{"function", "cpu-clock", []queries.Record{record("cpu-clock", "b", "c"), record("faults", "a", "b")},
			"the metric cpu-clock is not on both sides: the base has faults, the test has cpu-clock, faults in 1 of 2 (name one that both have, or record both with the same events)"},
		{"data-object", "", []queries.Record{record("faults", "a")},
			"the sides have no metric in common, of those that have data objects: the base has faults, the test has none (stackmill problems lists"},
		{"function", "", nil, "no experiment on either side has a metric"},
	} {
		c := &comparison{}
		c.By = test.by
		c.Result.Base.Runs = []queries.Experiment{named("a")}
		c.Result.Test.Runs = []queries.Experiment{named("b"), named("c")}
		if err := c.noCommonMetric(test.records, test.asked); !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}
