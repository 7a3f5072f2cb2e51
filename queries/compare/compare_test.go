package compare

import (
	"fmt"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/storetest"
)

// nights opens a store of two groups.
func nights(t *testing.T, kind string, base, test []map[string]int) *queries.DB {
	t.Helper()
	db, err := queries.Open(t.Context(), storetest.New(t, storetest.Groups(kind, base, test)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// outcome compares base-*.er with test-*.er and returns the rows as texts: name, medians
// (in ms unless they are normalized), verdict.
func outcome(t *testing.T, db *queries.DB, change func(*Request)) (*Result, string) {
	t.Helper()
	r := Defaults()
	r.Base, r.Test = []string{"base-*"}, []string{"test-*"}
	if change != nil {
		change(&r)
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, row := range result.Rows {
		base, test := row.Base, row.Test
		if r.Normalize == "none" {
			base, test = base/1e6, test/1e6
		}
		lines = append(lines, fmt.Sprintf("%s %.4g %.4g %s", row.Names[0], base, test, row.Verdict))
	}
	return result, strings.Join(lines, ", ")
}

func TestGroups(t *testing.T) {
	db := nights(t, "clock", storetest.Vary(10, map[string]int{"f": 100, "g": 200}), storetest.Vary(10, map[string]int{"f": 100, "g": 220, "h": 30}))
	for normalise, want := range map[string]string{
		"none":  "<Total> 304 356 slower, h 0 32 appeared, g 202 222 slower, f 102 102 same",
		"total": "<Total> 1 1 same, h 0 0.08989 appeared, f 0.3355 0.2865 faster, g 0.6645 0.6236 faster",
		"run":   "<Total> 3.04e+08 3.56e+08 slower, h 0 3.2e+07 appeared, g 2.02e+08 2.22e+08 slower, f 1.02e+08 1.02e+08 same",
	} {
		result, got := outcome(t, db, func(r *Request) { r.Normalize = normalise })
		if result.Judged != 4 {
			t.Errorf("%d rows were judged, want 4", result.Judged)
		}
		if got != want {
			t.Errorf("normalized by %s: got %s, want %s", normalise, got, want)
		}
	}
	if _, got := outcome(t, db, func(r *Request) { r.Base, r.Test = r.Test, r.Base }); got != "<Total> 356 304 faster, h 32 0 vanished, g 222 202 faster, f 102 102 same" {
		t.Errorf("the other way round: %s", got)
	}
	if _, got := outcome(t, db, func(r *Request) { r.MinShare = 0.2 }); !strings.Contains(got, "h 0 32 same") {
		t.Errorf("a row below the share was judged: %s", got)
	}
	if _, got := outcome(t, db, func(r *Request) { r.MinChange = 0.12 }); !strings.Contains(got, "g 202 222 same") {
		t.Errorf("a change below the limit counts: %s", got)
	}
	result, got := outcome(t, db, func(r *Request) { r.Test = r.Base })
	if strings.Contains(got, "slower") || strings.Contains(got, "faster") || len(result.Warnings) == 0 {
		t.Errorf("with itself: %s, warnings %q", got, result.Warnings)
	}
}

// TestFewRuns compares too few runs for a rank test.
func TestFewRuns(t *testing.T) {
	base, test := map[string]int{"f": 100, "g": 2000}, map[string]int{"f": 100, "g": 2600}
	several := nights(t, "clock", storetest.Vary(3, base), storetest.Vary(3, test))
	if _, got := outcome(t, several, nil); got != "<Total> 2104 2704 too few runs, g 2002 2602 too few runs, f 102 102 too few runs" {
		t.Errorf("three runs: %s", got)
	}
	if _, got := outcome(t, several, func(r *Request) { r.Test = []string{"test-0.er"} }); !strings.Contains(got, "g 2002 2600 slower") || !strings.Contains(got, "f 102 100 same") {
		t.Errorf("one run of samples against three: %s", got)
	}
	traced := nights(t, "heap", storetest.Vary(1, base), storetest.Vary(1, test))
	if _, got := outcome(t, traced, nil); got != "<Total> 2100 2700 slower, g 2000 2600 slower, f 100 100 same" {
		t.Errorf("one run of traced events: %s", got)
	}
	waits := nights(t, "wait", []map[string]int{{"f": 100, "g": 2000}}, []map[string]int{{"f": 104, "g": 2600}})
	if _, got := outcome(t, waits, nil); !strings.Contains(got, "g 2000 2600 slower") || !strings.Contains(got, "f 100 104 same") {
		t.Errorf("one run of waits, which differ from run to run: %s", got)
	}
	if _, got := outcome(t, nights(t, "heap", storetest.Vary(2, base), storetest.Vary(1, test)), nil); !strings.Contains(got, "g 2001 2600 too few runs") {
		t.Errorf("traced events that vary: %s", got)
	}
}

func TestRefusals(t *testing.T) {
	db := nights(t, "clock", storetest.Vary(1, map[string]int{"f": 1}), storetest.Vary(1, map[string]int{"f": 1}))
	for want, change := range map[string]func(*Request){
		"--test is missing":                       func(r *Request) { r.Test = nil },
		`--by: cannot compare by "colour"`:        func(r *Request) { r.By = "colour" },
		`--normalise: unknown normalization "up"`: func(r *Request) { r.Normalize = "up" },
		`--mode: unknown mode "kernel"`:           func(r *Request) { r.Mode = "kernel" },
		"--fdr: 2 is not between 0 and 1":         func(r *Request) { r.FDR = 2 },
		`no metric "mm", did you mean m?`:         func(r *Request) { r.Metric = "mm" },
		`--base: no experiment matches "x"`:       func(r *Request) { r.Base = []string{"x"} },
	} {
		r := Defaults()
		r.Base, r.Test = []string{"base-*"}, []string{"test-*"}
		change(&r)
		err := r.Check()
		if err == nil {
			_, err = Run(t.Context(), db, r)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}

// TestClones compares builds in which code has moved between a function and its clones.
func TestClones(t *testing.T) {
	db := nights(t, "heap", []map[string]int{{"f": 100, "f~[clone~.part.0]": 50, "g~[clone~.isra.0]": 10, "h": 7}}, []map[string]int{{"f": 150, "g~[clone~.constprop.0]": 10, "h": 7}})
	result, got := outcome(t, db, nil)
	if want := "<Total> 167 167 same, f 150 150 same, g [clone .constprop.0] 10 10 same, h 7 7 same"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, want := range []string{"key", "clones together", "name (g [clone .isra.0])", "key"} {
		if got := result.Rows[i].Matched; i > 0 && got != want {
			t.Errorf("%s was matched by %q, want %q", result.Rows[i].Names[0], got, want)
		}
	}
	if _, got := outcome(t, db, func(r *Request) { r.Inclusive = true }); !strings.Contains(got, "f 100 150 slower") || !strings.Contains(got, "f [clone .part.0] 50 0 vanished") {
		t.Errorf("inclusive values were added: %s", got)
	}
}

// If a filter leaves no samples of a metric, another one is compared.
func TestEmptiedMetric(t *testing.T) {
	text := strings.Replace(storetest.Two, "  heapallocbytes Bytes~Allocated bytes heap\n", "  totalcpu CPU ns clock\n  heapallocbytes Bytes~Allocated bytes heap\n", 1)
	db, err := queries.Open(t.Context(), storetest.New(t, text))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	some, err := db.Filter(t.Context(), queries.Filter{Where: []string{"kind = 'heap'"}})
	if err != nil {
		t.Fatal(err)
	}
	defer some.Close()
	result, _ := outcome(t, some, func(r *Request) { r.Base, r.Test = []string{"tuesday*/*"}, []string{"tuesday*/*"} })
	if want := "the filter leaves nothing of totalcpu: heapallocbytes is compared instead"; result.Metric != "heapallocbytes" || !strings.Contains(fmt.Sprint(result.Warnings), want) {
		t.Errorf("metric %s, warnings %v", result.Metric, result.Warnings)
	}
}
