package compare

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/storetest"
)

// TestConditions checks the conditions that are the same and those that differ, with their numbers of runs, the value
// of each run, and the sums of the rows that are too small to be judged.
func TestConditions(t *testing.T) {
	text := storetest.Groups("clock", storetest.Vary(3, map[string]int{"f": 10000, "g": 5000, "tiny": 1, "small": 1}), storetest.Vary(2, map[string]int{"f": 20000, "g": 5000, "tiny": 1}))
	for _, side := range []string{"base", "test"} {
		text = strings.ReplaceAll(text, "experiment format duration_ns status\n  "+side+"-", "experiment format host duration_ns status\n  "+side+"-")
	}
	for name, host := range map[string]string{"base-0": "web1", "base-1": "web2", "base-2": "web1", "test-0": "web1", "test-1": "web1"} {
		text = strings.ReplaceAll(text, name+".er gprofng", name+".er gprofng "+host)
	}
	db, err := queries.Open(t.Context(), storetest.New(t, text))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	result, _ := outcome(t, db, func(r *Request) { r.Block = BlockNone })
	found := map[string]string{}
	for _, d := range result.Conditions {
		found[d.What] = fmt.Sprintf("%v %v same %t", d.Base, d.Test, d.Same)
	}
	for what, want := range map[string]string{
		"host": "[{web1 2} {web2 1}] [{web1 2}] same false", "status": "[{complete 3}] [{complete 2}] same true", "recorded events": "[{clock 3}] [{clock 2}] same true",
	} {
		if found[what] != want {
			t.Errorf("%s: %s, want %s", what, found[what], want)
		}
	}
	var answer struct {
		Base, Test struct {
			Experiments []string
			Runs        []RunValue
		}
		Rows  []struct{ Function string }
		Small Rest
	}
	object, err := result.Object(result.Rows)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		t.Fatal(err)
	}
	totals, err := db.Records(t.Context(), "SELECT experiment, value::DOUBLE AS value FROM metric_totals WHERE mode = 'user' AND metric = ?", result.Metric)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]any{}
	for _, r := range totals {
		of[r.Text("experiment")] = r["value"]
	}
	for _, r := range append(answer.Base.Runs, answer.Test.Runs...) {
		if of[r.Experiment] != r.Value {
			t.Errorf("%s: %v, its <Total> is %v", r.Experiment, r.Value, of[r.Experiment])
		}
	}
	if len(answer.Base.Runs) != 3 || len(answer.Test.Runs) != 2 || answer.Base.Runs[1].Host != "web2" {
		t.Errorf("%+v and %+v", answer.Base.Runs, answer.Test.Runs)
	}
	small := Rest{}
	for _, r := range result.Rows[1:] {
		if strings.Contains("tiny small", r.Names[0]) {
			small = Rest{small.Rows + 1, small.Base + r.Base, small.Test + r.Test}
		}
	}
	if answer.Small != small || small.Rows != 2 || small.Base == 0 {
		t.Errorf("small rows: %+v, want %+v", answer.Small, small)
	}
}
