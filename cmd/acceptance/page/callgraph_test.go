package page

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// neighbors returns a side of the call graph, one line for each: the name and the exact value.
func (b *browser) neighbors(side string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll('.callgraph .%s li')].map((l) =>
		(l.querySelector('a.named')?.title ?? l.firstElementChild.innerText) + ' ' + l.querySelector('.number[title]').title.replace(/[^0-9]/g, ''))`, side))
}

// callsOf returns the callers or callees of a function in SQL, in the same form.
func callsOf(t *testing.T, from, relation, experiment string) (lines []string) {
	t.Helper()
	found, err := store.Records(t.Context(), `SELECT other, attributed FROM `+from+`
		WHERE experiment = ? AND metric = 'totalcpu' AND mode = 'user' AND relation = ? AND attributed > 0 ORDER BY attributed DESC, other`, experiment, relation)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		lines = append(lines, strings.Replace(f.Text("other"), "<Total>", "the start of stacks", 1)+fmt.Sprintf(" %d", f.Number("attributed")))
	}
	return lines
}

// The call graph has SQL's values. A click walks to a neighbor, Back returns, and a chain of calls can be extended at
// both ends.
func TestCallGraphWalk(t *testing.T) {
	b := open(t, 1280, 850, false)
	check := func(from string) {
		t.Helper()
		for side, relation := range map[string]string{"callers": "caller", "callees": "callee"} {
			if got, want := b.neighbors(side), callsOf(t, from, relation, "recur.er"); !slices.Equal(got, want) {
				t.Errorf("the page has %q, SQL %q", got, want)
			}
		}
	}
	view := func(function string) string {
		return "(SELECT * FROM callers_callees WHERE function = '" + function + "')"
	}
	b.visit("?view=graph&experiment=recur.er&function=is_even")
	check(view("is_even"))
	first := b.neighbors("callees")
	b.run(chromedp.Click(`//*[@class='callees']//a[.='is_odd']`, chromedp.BySearch), settled)
	if got := eval[string](b, `new URLSearchParams(location.search).get('function')`); got != "is_odd" {
		t.Errorf("a click leads to %s", got)
	}
	check(view("is_odd"))
	b.run(chromedp.NavigateBack(), settled)
	if got := b.neighbors("callees"); !slices.Equal(got, first) {
		t.Errorf("Back shows %q, want %q", got, first)
	}
	add := func(side, function string) {
		t.Helper()
		b.run(chromedp.Click(fmt.Sprintf(`//*[@class=%q]//li[.//a[@title=%q]]//a[@class='add']`, side, function), chromedp.BySearch), settled)
	}
	add("callers", "main")
	add("callees", "is_odd")
	query, err := url.ParseQuery(strings.TrimPrefix(eval[string](b, `location.search`), "?"))
	if piece := query["piece"]; err != nil || !slices.Equal(piece, []string{"main", "is_even", "is_odd"}) {
		t.Fatalf("the chain is %q (%v)", piece, err)
	}
	check("fragment_callers_callees(['main', 'is_even', 'is_odd'])")
	b.run(chromedp.Click(`.chain li:last-child button`, chromedp.ByQuery), settled)
	check("fragment_callers_callees(['main', 'is_even'])")
}

// Functions that call each other in a circle are recognized, and are shown as one on request.
func TestCallGraphCycle(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=graph&experiment=recur.er&function=is_even")
	if text := eval[string](b, `document.querySelector('.middle').innerText`); !strings.Contains(text, "In a cycle of 2 functions") {
		t.Errorf("the middle says %q", text)
	}
	b.run(chromedp.Click(`//*[@class='middle']//a[.='show it as one']`, chromedp.BySearch), settled)
	if text := eval[string](b, `document.querySelector('.middle').innerText`); !strings.Contains(text, "Cycle of 2 functions") || !strings.Contains(text, "is_even, is_odd") {
		t.Errorf("the middle says %q", text)
	}
	for _, side := range []string{"callers", "callees"} {
		for _, line := range b.neighbors(side) {
			if strings.HasPrefix(line, "is_") {
				t.Errorf("%s of the cycle: %s", side, line)
			}
		}
	}
	var inclusive int64
	if err := store.QueryRow(`SELECT sum(value)::BIGINT FROM folded WHERE experiment = 'recur.er' AND metric = 'totalcpu' AND mode = 'user'
		AND list_has_any(string_split(stack, ';'), ['is_even', 'is_odd'])`).Scan(&inclusive); err != nil {
		t.Fatal(err)
	}
	if got := eval[string](b, `document.querySelector('.middle .number[title]').title.replace(/[^0-9]/g, '')`); got != fmt.Sprint(inclusive) {
		t.Errorf("the cycle has %s, want %d", got, inclusive)
	}
}

// From any place, two clicks show the callers and callees of a function, its module or its load object.
func TestCallGraphInTwoClicks(t *testing.T) {
	b := open(t, 1280, 850, false)
	for label, group := range map[string]string{"Functions": "", "Modules": "module", "Load objects": "load-object"} {
		b.visit("?view=functions&experiment=cxx.er")
		b.run(chromedp.Click(`//nav//a[starts-with(., 'Call graph')]`, chromedp.BySearch), settled)
		b.run(chromedp.Click(fmt.Sprintf(`//main//button[.=%q]`, label), chromedp.BySearch), settled)
		if got := eval[string](b, `new URLSearchParams(location.search).get('group') ?? ''`); got != group {
			t.Errorf("%s shows %q", label, got)
		}
		if n := len(b.neighbors("callers")); n == 0 {
			t.Errorf("%s: no callers", label)
		}
		if eval[int](b, `document.querySelectorAll('.callgraph ul[aria-label]').length`) != 2 {
			t.Errorf("%s: callers and callees are not two lists", label)
		}
	}
	var inclusive int64
	if err := store.QueryRow(`SELECT max(inclusive) FROM load_object_metrics WHERE experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user' AND load_object = 'cxx'`).Scan(&inclusive); err != nil {
		t.Fatal(err)
	}
	b.visit("?view=graph&experiment=cxx.er&group=load-object&of=cxx")
	if got := eval[string](b, `document.querySelector('.middle .number[title]').title.replace(/[^0-9]/g, '')`); got != fmt.Sprint(inclusive) {
		t.Errorf("cxx has %s, want %d", got, inclusive)
	}
}
