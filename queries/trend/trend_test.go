package trend

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stackmill/queries"
	"stackmill/queries/storetest"
)

// nights returns runs in which slow takes more from the 20th on, and new appears on the 30th.
func nights() (of []map[string]int) {
	for n := range 40 {
		values := map[string]int{"main": 500 + n*7%11, "slow": 100 + n*5%7}
		if n >= 20 {
			values["slow"] += 30
		}
		if n >= 30 {
			values["new"] = 50 + n*3%5
		}
		of = append(of, values)
	}
	return of
}

func run(t *testing.T, text string, change func(*Request)) (*Result, error) {
	t.Helper()
	db, err := queries.OpenWith(t.Context(), storetest.New(t, text), queries.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := Defaults()
	if change != nil {
		change(&r)
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	return Run(t.Context(), db, r)
}

// Values are in chronological order, and their changes are found.
func TestTrend(t *testing.T) {
	// The store has them in another order than time.
	batches := strings.Split(storetest.Nights(nights()), "batch ")[1:]
	slices.Reverse(batches)
	text := "batch " + strings.Join(batches, "batch ")
	for _, of := range []struct {
		function string
		change   func(*Request)
		first    float64
		last     float64
		at       []int
	}{
		{"<Total>", func(*Request) {}, 600e6, 697e6, []int{20, 30}},
		{"slow", func(r *Request) { r.Function = "slow" }, 100e6, 136e6, []int{20}},
		{"main", func(r *Request) { r.Function = "^ma" }, 500e6, 509e6, nil},
		{"new", func(r *Request) { r.Function = "new" }, 0, 52e6, []int{30}},
		{"slow", func(r *Request) { r.Function, r.Normalize = "slow", "total" }, 100. / 600, 136. / 697, []int{20, 30}},
		{"slow", func(r *Request) { r.Function, r.Normalize = "slow", "run" }, 100e6, 136e6, []int{20}},
	} {
		r, err := run(t, text, of.change)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Points) != 40 || r.Points[0].Experiment != "night-00.er" || r.Points[39].Experiment != "night-39.er" || r.Points[1].Started != "2026-01-02T02:00:00Z" || len(r.Warnings) > 0 {
			t.Fatalf("%+v %q", r.Points, r.Warnings)
		}
		s := r.Series[0]
		var at []int
		for _, c := range s.Changes {
			at = append(at, c.At)
		}
		if s.Function != of.function || s.Values[0] != of.first || s.Values[39] != of.last || !slices.Equal(at, of.at) {
			t.Errorf("%s: %s from %v to %v, changes at %v", of.function, s.Function, s.Values[0], s.Values[39], at)
		}
	}
}

// A trend reports what it leaves out of a series, and what may explain a change.
func TestLeftOut(t *testing.T) {
	text := storetest.Nights(nights()[:6])
	text = strings.Replace(text, "night-01.er gprofng box app 2026-01-02T02:00:00Z", "night-01.er gprofng box app null", 1)
	text = strings.Replace(text, "night-02.er gprofng box app", "night-02.er gprofng other app", 1)
	text = strings.Replace(text, "night-03.er gprofng box app", "night-03.er gprofng box another", 1)
	batches := strings.Split(text, "batch ")
	batches[5] = strings.ReplaceAll(batches[5], " m ", " other ")
	text = strings.Join(batches, "batch ")
	r, err := run(t, text, func(r *Request) { r.Function = "slow|main"; r.Limit = 1 })
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range r.Points {
		names = append(names, p.Experiment)
	}
	if !slices.Equal(names, []string{"night-00.er", "night-02.er", "night-03.er", "night-05.er"}) || r.Matched != 2 || len(r.Series) != 1 || r.Series[0].Function != "main" {
		t.Errorf("%q, %d series of %d", names, len(r.Series), r.Matched)
	}
	if got := strings.Join(r.Warnings, "\n"); len(r.Warnings) != 4 || !strings.Contains(got, "1 of 6 experiments have no metric m") ||
		!strings.Contains(got, "1 of 6 experiments have no start, because an older version") || !strings.Contains(got, "2 programs") || !strings.Contains(got, "2 hosts") {
		t.Error(got)
	}
}

func TestMistakes(t *testing.T) {
	text := storetest.Nights(nights()[:2])
	for want, change := range map[string]func(*Request){
		`no metric "x"`:                          func(r *Request) { r.Metric = "x" },
		`no function "x"`:                        func(r *Request) { r.Function = "x" },
		"--mode: unknown mode":                   func(r *Request) { r.Mode = "x" },
		"--normalise: unknown normalization":     func(r *Request) { r.Normalize = "x" },
		"--limit: 0 is less":                     func(r *Request) { r.Limit = 0 },
		`--order: "x" is neither`:                func(r *Request) { r.Order = "x" },
		`--by: "label=" is neither`:              func(r *Request) { r.By = "label=" },
		"--order: no experiment has the label x": func(r *Request) { r.Order = "label=x" },
		"--by: no experiment has the label x":    func(r *Request) { r.By = "label=x" },
	} {
		if _, err := run(t, text, change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Functions that can be told apart only within their build are one series, with a warning.
func TestOnlyInBuild(t *testing.T) {
	record := func(function, module string, key int64, only bool) queries.Record {
		return queries.Record{"function": function, "load_object": "prog", "module": module, "function_key": key, "only_in_build": only}
	}
	one, two, other := record("helper", "/b/1/util.c", 7, true), record("helper", "/b/2/util.c", 8, true), record("main", "/b/1/util.c", 9, false)
	var r trend
	identity := r.identities([]queries.Record{one, two, other})
	if identity(one) != identity(two) || identity(other) != any(int64(9)) {
		t.Errorf("%v, %v and %v", identity(one), identity(two), identity(other))
	}
	if want := []string{"helper of prog is the sum of all functions of that name: 2 of them cannot be distinguished across builds"}; !slices.Equal(r.Warnings, want) {
		t.Errorf("warnings %q, want %q", r.Warnings, want)
	}
}

// TestRunsOfANight checks that the experiments of one date count as one night with their mean, and
// that a change begins at the first of them.
func TestRunsOfANight(t *testing.T) {
	text := storetest.Nights(nights())
	for n := range 40 { // two runs on each date
		day := time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)
		text = strings.Replace(text, day.AddDate(0, 0, n).Format(time.RFC3339), day.AddDate(0, 0, n/2).Add(time.Duration(n%2)*time.Hour).Format("2006-01-02T15:04:05.000Z"), 1)
	}
	text = strings.ReplaceAll(text, ".000Z", "Z")
	r, err := run(t, text, func(r *Request) { r.Function = "slow" })
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Series[0]; len(s.Values) != 40 || len(s.Changes) != 1 || s.Changes[0].At != 20 || r.Points[20].Started != "2026-01-11T02:00:00Z" || s.Changes[0].Before != 102.75e6 {
		t.Errorf("%+v, %+v", s, r.Points[20])
	}
}
