package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"stackmill/queries/storetest"
)

// The page narrows experiments by facets; it finds the same experiments as the selector in its
// links.
func TestNarrow(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=experiments")
	names := func() (list []string) {
		t.Helper()
		for _, row := range b.cells() {
			list = append(list, strings.Split(row, "|")[1])
		}
		slices.Sort(list)
		return list
	}
	// A facet's value, with the number of experiments that it shows.
	value := func(facet, v string) string {
		return fmt.Sprintf(`//section[@aria-label=%q]//button[span[@class='value']=%q]`, facet, v)
	}
	count := func(facet, v string) (n int) {
		t.Helper()
		var text string
		b.run(chromedp.Text(value(facet, v)+`/span[@class='count']`, &text, chromedp.BySearch))
		_, _ = fmt.Sscan(text, &n)
		return n
	}
	headings := eval[[]string](b, `[...document.querySelectorAll('main th')].map((h) => h.innerText.trim())`)
	if !slices.Contains(headings, "variant") || !slices.Contains(headings, "Status") {
		t.Errorf("columns %q", headings)
	}
	for _, of := range []struct{ facet, value, selector string }{{"format", "gprofng", "format=gprofng"}, {"variant", "sec", "format=gprofng,variant=sec"}} {
		before := count(of.facet, of.value)
		b.run(chromedp.Click(value(of.facet, of.value), chromedp.BySearch), settled)
		chosen, err := store.Select(t.Context(), of.selector)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, e := range chosen {
			want = append(want, e.Name)
		}
		slices.Sort(want)
		if got := names(); !slices.Equal(got, want) || before != len(want) {
			t.Errorf("%s: %q, %d said, want %q", of.selector, got, before, want)
		}
		if to := eval[string](b, `new URL(document.querySelector('main .uses a').href).searchParams.get('experiment')`); to != of.selector {
			t.Errorf("a link leads to %q, want %q", to, of.selector)
		}
	}
	if n := count("variant", "lazy"); n != 1 {
		t.Errorf("%d experiments of another variant could be chosen, want 1", n)
	}
	b.run(chromedp.Click(value("variant", "sec"), chromedp.BySearch), settled)
	if got := len(names()); got != count("format", "gprofng") || got < 3 {
		t.Errorf("%d experiments after a value was taken away", got)
	}
	// A selector cannot express a value with a comma: the page uses experiments' names.
	b.run(chromedp.Click(value("note", "a, b"), chromedp.BySearch), settled)
	if to := eval[[]string](b, `new URL(document.querySelector('main .uses a').href).searchParams.getAll('experiment')`); !slices.Equal(to, []string{"plt_sec.er", "plt_lazy.er"}) && !slices.Equal(to, []string{"plt_lazy.er", "plt_sec.er"}) {
		t.Errorf("a link leads to %q", to)
	}
	b.visit("?view=experiments&narrow=variant%3Dnone")
	if note := eval[string](b, `document.querySelector('.browser .note').innerText`); !strings.HasPrefix(note, "No experiment matches.") {
		t.Error(note)
	}
}

// Many experiments are shown page by page, in the order given in the address.
func TestPages(t *testing.T) {
	var nights []map[string]int
	for range 450 {
		nights = append(nights, map[string]int{"main": 1})
	}
	address := served(t, storetest.New(t, storetest.Nights(nights)), nil).address
	b := open(t, 1280, 850, false)
	b.site = address
	first := func() string { t.Helper(); return strings.Split(b.cells()[0], "|")[1] }
	b.visit("?view=experiments")
	if n := len(b.cells()); n != 200 || first() != "night-449.er" {
		t.Errorf("%d experiments on the first page, %s", n, first())
	}
	b.run(chromedp.Click(`//button[.='Next']`, chromedp.BySearch), settled)
	if first() != "night-249.er" || eval[string](b, `document.querySelector('.pages span').innerText`) != "201 to 400 of 450" {
		t.Errorf("the second page begins with %s", first())
	}
	b.run(chromedp.Click(`//button[starts-with(., 'Started')]`, chromedp.BySearch), settled)
	if first() != "night-00.er" {
		t.Errorf("in ascending order, %s is the first", first())
	}
	b.visit("?view=experiments&page=3&sort=Started+(UTC)")
	if n := len(b.cells()); n != 50 || first() != "night-400.er" {
		t.Errorf("%d experiments on the last page, %s", n, first())
	}
	b.visit("?view=experiments&find=night-44&page=3")
	if n := len(b.cells()); n != 11 { // 44, 440 to 449
		t.Errorf("%d experiments were found", n)
	}
}

// Experiments are ticked over all pages; all that are ticked become the selection, the base or the test. A label for them
// is a command to copy, in two clicks.
func TestTicked(t *testing.T) {
	var nights []map[string]int
	for range 450 {
		nights = append(nights, map[string]int{"main": 1})
	}
	b := open(t, 1280, 850, false)
	b.site = served(t, storetest.New(t, storetest.Nights(nights)), nil).address
	b.visit("?view=experiments")
	tick := func(name string) {
		t.Helper()
		b.run(chromedp.Click(fmt.Sprintf(`input[aria-label="tick %s"]`, name), chromedp.ByQuery), settled)
	}
	click := func(text string) {
		t.Helper()
		b.run(chromedp.Click(fmt.Sprintf(`//section[@aria-label='Ticked experiments']//button[.=%q]`, text), chromedp.BySearch), settled)
	}
	chosen := func(parameter string) []string {
		t.Helper()
		return eval[[]string](b, `new URLSearchParams(location.search).getAll(`+fmt.Sprintf("%q", parameter)+`)`)
	}
	tick("night-449.er")
	tick("night-448.er")
	b.run(chromedp.Click(`//button[.='Next']`, chromedp.BySearch), settled)
	tick("night-249.er")
	tick("night-248.er")
	base := []string{"night-449.er", "night-448.er", "night-249.er", "night-248.er"}
	click("As base")
	if got := chosen("base"); !slices.Equal(got, base) || len(chosen("tick")) != 0 {
		t.Errorf("the base is %q", got)
	}
	tick("night-247.er")
	tick("night-246.er")
	click("As test")
	if got := chosen("experiment"); !slices.Equal(got, []string{"night-247.er", "night-246.er"}) || !slices.Equal(chosen("base"), base) {
		t.Errorf("the test is %q, the base %q", got, chosen("base"))
	}
	b.run(chromedp.NavigateBack(), settled)
	if got := chosen("tick"); len(got) != 2 {
		t.Errorf("back, %q are ticked", got)
	}
	click("Use as selection")
	if got := chosen("experiment"); !slices.Equal(got, []string{"night-247.er", "night-246.er"}) {
		t.Errorf("the selection is %q", got)
	}

	b.visit("?view=experiments")
	tick("night-449.er")
	b.run(chromedp.Evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text }`, nil),
		chromedp.SendKeys(`input[aria-label="Key of the label"]`, "note", chromedp.ByQuery),
		chromedp.SendKeys(`input[aria-label="Value of the label"]`, "it's slow", chromedp.ByQuery))
	click("Copy the command")
	b.run(poll(`window.copied !== undefined`))
	if got, want := eval[string](b, `window.copied`), `stackmill label night-449.er 'note=it'\''s slow'`; got != want {
		t.Errorf("the command is %s, not %s", got, want)
	}
	b.run(chromedp.Evaluate(`document.querySelector('input[aria-label="Key of the label"]').value = ''`, nil),
		chromedp.SendKeys(`input[aria-label="Key of the label"]`, "host", chromedp.ByQuery))
	if said := eval[string](b, `document.querySelector('.labels').innerText`); !strings.Contains(said, "host is a column") {
		t.Errorf("about a key that is a column, it says %q", said)
	}
}
