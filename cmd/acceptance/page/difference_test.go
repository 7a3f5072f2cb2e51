package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// amount formats nanoseconds as the page does.
func amount(ns float64) string {
	if ns == 0 {
		return "0"
	}
	sign := ""
	if ns < 0 {
		sign, ns = "\u2212", -ns
	}
	for _, s := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if v := ns / s.size; v >= 1 {
			digits := 2 - int(math.Log10(v))
			scale := math.Pow10(digits)
			return sign + strconv.FormatFloat(math.Floor(v*scale+0.5)/scale, 'f', digits, 64) + "\u202f" + s.name // rounds half up
		}
	}
	return sign + fmt.Sprint(ns) + "\u202fns"
}

// The difference flame graph has SQL's means of both sides, marks new and vanished functions, and
// shows a function's comparison.
func TestDifference(t *testing.T) {
	b := open(t, 1280, 850, false)
	// The functions called from the root, with their value in each run.
	rows, err := store.Records(t.Context(), `SELECT function AS name, COALESCE(sum(attributed) FILTER (experiment IN ('recur.er', 'cxx.er')), 0)::BIGINT AS base,
		COALESCE(sum(attributed) FILTER (experiment = 'omp_gcc.er'), 0)::BIGINT AS test
		FROM call_tree WHERE experiment IN ('recur.er', 'cxx.er', 'omp_gcc.er') AND metric = 'totalcpu' AND mode = 'user' AND depth <= 1 AND attributed > 0 GROUP BY function`)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	kinds := map[string]int{}
	for _, r := range rows {
		base, test := float64(r.Number("base"))/2, float64(r.Number("test"))
		if max(base, test) < 1e6 { // too narrow before one zooms
			continue
		}
		change := amount(test - base)
		switch {
		case base == 0:
			change = "new"
		case test == 0:
			change = "gone"
		case test > base:
			change = "+" + change
		}
		kinds[change]++
		want = append(want, fmt.Sprintf("%s|%s|%s → %s", r.Text("name"), change, amount(base), amount(test)))
	}
	if kinds["new"] == 0 || kinds["gone"] == 0 || len(kinds) < 3 {
		t.Fatalf("there are not all kinds of changes: %v", want)
	}
	b.visit("?view=flame&base=recur.er&base=cxx.er&experiment=omp_gcc.er&metric=totalcpu")
	b.run(chromedp.WaitReady(`[role=treeitem]`, chromedp.ByQuery), settled)
	got := eval[[]string](b, `[...document.querySelectorAll('[role=treeitem]')].map((r) => r.querySelector('.name').innerText.replace(/^[▸▾ ]+/, '').trim() + '|' + [...r.querySelectorAll('.number')].map((n) => n.innerText).join('|'))`)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the page has\n%q\nSQL\n%q", got, want)
	}
}
