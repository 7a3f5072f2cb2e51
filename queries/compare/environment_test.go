package compare

import (
	"fmt"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/storetest"
)

// TestEnvironment compares runs on other machines, with other options.
func TestEnvironment(t *testing.T) {
	text := storetest.Groups("clock", storetest.Vary(2, map[string]int{"f": 100}), storetest.Vary(2, map[string]int{"f": 100}))
	text = strings.ReplaceAll(text, "experiment format duration_ns status\n  base-", "experiment format host command cpus duration_ns status\n  base-")
	text = strings.ReplaceAll(text, "experiment format duration_ns status\n  test-", "experiment format host command cpus duration_ns status\n  test-")
	text = strings.ReplaceAll(text, "base-0.er gprofng", "base-0.er gprofng web1 perf~record~-F~99~-o~x.data~/old/app 4")
	text = strings.ReplaceAll(text, "base-1.er gprofng", "base-1.er gprofng web2 perf~record~-F~99~-o~y.data~/old/app 4")
	text = strings.ReplaceAll(text, "test-0.er gprofng", "test-0.er gprofng web2 perf~record~-F~999~-o~x.data~/new/app 4")
	text = strings.ReplaceAll(text, "test-1.er gprofng", "test-1.er gprofng web2 perf~record~-F~999~--output=x.data~/new/app 4")
	text = strings.Replace(text, "metrics metric title unit kind\n  m M ns clock\n", "metrics metric title unit kind\n  m M ns clock\n  heapallocbytes Heap bytes heap\n", 1)
	db, err := queries.Open(t.Context(), storetest.New(t, text))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	result, _ := outcome(t, db, nil)
	want := "[{host [web1 web2] [web2] true} {command [perf record -F 99 app] [perf record -F 999 app] true} {recorded events [clock clock, heap] [clock] true}]"
	if got := fmt.Sprint(result.Environment); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := Few([]string{"a", "b", "c", "d", "e"}); got != "a, b, c and 2 more" {
		t.Errorf("few: %s", got)
	}
}

// TestNoise measures the noise of runs with known values.
func TestNoise(t *testing.T) {
	halves := [][]int{{0, 1, 2, 3}, {0, 2, 1, 3}, {3, 2, 1, 0}}
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{7, 7, 7, 7}, 0}, {[]float64{10, 10, 20, 20}, 1}, {[]float64{0, 0, 0, 0}, 0}} {
		if got := floor(c.values, []int{0, 1, 2, 3}, halves); got != c.want {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
	db := nights(t, "clock", storetest.Vary(3, map[string]int{"f": 100}), storetest.Vary(5, map[string]int{"f": 100}))
	if result, _ := outcome(t, db, nil); result.NoiseRuns != 0 {
		t.Errorf("the noise of three runs: %+v", result.Rows)
	}
	result, _ := outcome(t, db, func(r *Request) { r.Base, r.Test = r.Test, r.Base })
	if noise := result.Rows[0].Noise; result.NoiseRuns != 5 || noise <= 0 || noise > 0.04 {
		t.Errorf("the noise of %d runs is %v", result.NoiseRuns, noise)
	}
}
