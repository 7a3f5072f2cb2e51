package page

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// Metrics side by side have SQL's values for every listed function, even if it is not among that
// metric's highest; an experiment without a metric shows no values for it.
func TestSideBySide(t *testing.T) {
	b := open(t, 1280, 850, false)
	percent := func(v, of int64) string { return fmt.Sprintf("%.2f %%", 100*float64(v)/float64(of)) }
	values := func(metric, column string) (of map[string]int64) {
		t.Helper()
		found, err := store.Records(t.Context(), fmt.Sprintf(`SELECT function, sum(%s)::BIGINT AS v FROM function_metrics WHERE experiment = 'heap.er' AND metric = ? AND mode = 'user' GROUP BY 1`, column), metric)
		if err != nil {
			t.Fatal(err)
		}
		of = map[string]int64{}
		for _, f := range found {
			of[f.Text("function")] = f.Number("v")
		}
		return of
	}
	const rows = 3
	alloc, leak := "heapallocbytes", "heapleakcnt"
	b.visit(fmt.Sprintf("?view=functions&experiment=heap.er&beside=%s&beside=%s&rows=%d", alloc, leak, rows))
	cells := b.cells()
	if len(cells) != rows+1 {
		t.Fatalf("%d rows: %q", len(cells), cells)
	}
	zero := false
	for _, c := range cells {
		parts := strings.Split(c, "|")
		name := parts[0]
		for i, of := range []struct{ metric, column string }{{alloc, "exclusive"}, {alloc, "inclusive"}, {leak, "exclusive"}, {leak, "inclusive"}} {
			all := values(of.metric, of.column)
			total := values(of.metric, "inclusive")["<Total>"]
			if got, want := parts[2*i+2], percent(all[name], total); got != want {
				t.Errorf("%s: %s %s is %s, want %s", name, of.column, of.metric, got, want)
			}
			zero = zero || all[name] == 0
		}
	}
	if !zero {
		t.Error("no function has 0 of a metric")
	}

	b.visit("?view=functions&experiment=heap.er&experiment=recur.er&beside=heapallocbytes&beside=totalcpu&search=main")
	for _, c := range b.cells() {
		parts := strings.Split(c, "|")
		if recorded := parts[1] != "–"; recorded != (parts[len(parts)-1] == "heap.er") {
			t.Errorf("bytes of %q", c)
		}
		if recorded := parts[5] != "–"; recorded != (parts[len(parts)-1] == "recur.er") {
			t.Errorf("CPU time of %q", c)
		}
		if name := parts[0]; name != "<Total>" && !strings.Contains(name, "main") {
			t.Errorf("a search for main finds %q", c)
		}
	}
}

// A fragment of stacks can be extended at both ends, with SQL's values.
func TestPieces(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=callers&experiment=recur.er&function=is_even")
	add := func(relation, function string) {
		t.Helper()
		clicked := fmt.Sprintf(`[...document.querySelectorAll('[aria-label=%q] tbody tr')].find((r) => r.cells[2].innerText === %q).cells[3].querySelector('a').click()`, relation, function)
		if busy := eval[bool](b, `(async () => { `+clicked+`; await null; return document.querySelector('main [aria-busy=true]') !== null })()`); !busy {
			t.Errorf("%s %s: what is shown passes for that of the longer piece", relation, function)
		}
		b.run(settled)
	}
	add("caller", "main")
	add("callee", "is_odd")
	query, err := url.ParseQuery(strings.TrimPrefix(eval[string](b, `location.search`), "?"))
	if piece := query["piece"]; err != nil || !slices.Equal(piece, []string{"main", "is_even", "is_odd"}) {
		t.Fatalf("the piece is %q (%v)", piece, err)
	}
	found, err := store.Records(t.Context(), `SELECT relation, other, attributed FROM fragment_callers_callees(['main', 'is_even', 'is_odd'])
		WHERE experiment = 'recur.er' AND metric = 'totalcpu' AND mode = 'user' ORDER BY array_position(['caller', 'self', 'callee'], relation), attributed DESC`)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range found {
		want = append(want, amount(float64(f.Number("attributed")))+" "+f.Text("other"))
	}
	got := eval[[]string](b, `[...document.querySelectorAll('main tbody tr')].map((r) => r.cells[0].innerText + ' ' + r.cells[2].innerText)`)
	if len(want) < 3 || !slices.Equal(got, want) {
		t.Errorf("the page has %q, SQL %q", got, want)
	}
}

// If no function has the requested name, the page lists the functions that match it.
func TestCallersOfPartOfName(t *testing.T) {
	b := open(t, 1280, 850, false)
	said := func() string {
		t.Helper()
		return eval[string](b, `document.querySelector('main .warning')?.innerText ?? ''`)
	}
	b.visit("?view=callers&experiment=recur.er&function=is_")
	if got := said(); !strings.HasPrefix(got, "No function that has a value is named is_. These are 2 functions, and percentages are of all of them: is_even, is_odd,") {
		t.Errorf("of is_ it says %q", got)
	}
	if rows := b.cells(); !strings.HasSuffix(rows[0], "|is_even|add before") && !strings.HasSuffix(rows[0], "|is_odd|add before") {
		t.Errorf("rows do not say of what: %q", rows)
	}
	b.visit("?view=callers&experiment=recur.er&function=is_even")
	if got := said(); got != "" {
		t.Errorf("of is_even it says %q", got)
	}
}
