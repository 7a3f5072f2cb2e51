package page

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/trend"
	"stackmill/schema/storedir"
)

// TestTrend checks that the trend of a function has the value of each night, as the cursor tells them, and the change
// that `stackmill trend` finds, which leads to the comparison of all nights before with all after; that an axis says
// where it begins; and that notes are marked.
func TestTrend(t *testing.T) {
	dir := changedStore(t)
	c, err := storedir.ReadContents(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Label(storedir.Labels{Experiments: []string{fmt.Sprintf("%016x", 11)}, Set: map[string]string{"note": "new compiler"}}, "test"); err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := trend.Defaults()
	r.Function = "slow"
	want, err := trend.Run(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, 1280, 850, false)
	b.site = served(t, dir, nil).address
	b.visit("?view=trend&function=slow&experiment=started%3D2026-02-09%2Ctarget%3Dapp") // a selected night does not narrow it
	change := want.Series[0].Changes[0]
	title := fmt.Sprintf("slow is %s slower since 26 Jan", signedPercent(change.After / change.Before)[1:])
	if got := eval[string](b, `document.querySelector('h1').innerText`); got != title {
		t.Errorf("the title is %q, want %q", got, title)
	}
	rows := b.cells()
	row := fmt.Sprintf("26 Jan|%s|%s|▲%s|", amount(change.Before), amount(change.After), signedPercent(change.After/change.Before))
	if len(rows) < 1 || !strings.HasPrefix(strings.ReplaceAll(rows[0], "\n", ""), row) {
		t.Errorf("%q, want %q", rows, row)
	}
	b.run(chromedp.Focus(".trendchart", chromedp.ByQuery), chromedp.KeyEvent(kb.Home))
	var told, values []string
	for n, v := range want.Series[0].Values {
		values = append(values, amount(v)+", "+want.Points[n].Experiment)
		told = append(told, strings.Join(strings.Split(eval[string](b, `document.querySelector('.trendchart [role=status]').innerText`), ", ")[:2], ", "))
		b.run(chromedp.KeyEvent(kb.ArrowRight))
		if n == 9 && !strings.Contains(eval[string](b, `document.querySelector('.told').innerText`), "note: new compiler") {
			t.Error("the cursor does not tell the note")
		}
	}
	if diff := cmp.Diff(values, told); diff != "" {
		t.Errorf("-stackmill trend +cursor\n%s", diff)
	}
	if notes := eval[string](b, `document.querySelector('.nightnotes').innerText`); !strings.Contains(notes, "11 Jan: new compiler") {
		t.Errorf("notes: %q", notes)
	}
	axis := func() string { return eval[string](b, `document.querySelector('.trendplace .note').innerText`) }
	lowest := func() string {
		return eval[string](b, `document.querySelector('.trendchart text[text-anchor=end]').textContent`)
	}
	if got := axis(); !strings.Contains(got, "does not begin at 0") || lowest() == "0" {
		t.Errorf("fitted: %q, from %s", got, lowest())
	}
	b.run(chromedp.Click(`//button[.='From 0']`, chromedp.BySearch), settled)
	if got := axis(); !strings.Contains(got, "The axis begins at 0.") || lowest() != "0" {
		t.Errorf("from 0: %q, from %s", got, lowest())
	}
	b.run(chromedp.Click(`//a[.='25 before, 15 after']`, chromedp.BySearch), settled)
	if base, test := b.groups(); !slices.Equal(base, []string{baseNights}) || !slices.Equal(test, []string{testNights}) {
		t.Errorf("the change leads to %q and %q", base, test)
	}
	b.run(poll(`document.querySelector('table.comparison')?.innerText.includes('slow')`))
	b.visit("?view=trend&function=main&experiment=target%3Dapp")
	if got := eval[string](b, `document.querySelector('h1').innerText`); got != "main did not change in 40 nights" {
		t.Errorf("%q of a function that did not change", got)
	}
}

// TestTrendSeries checks the trends of all programs in one chart and in small ones, and of the functions with the
// highest sums; and that the place is accessible.
func TestTrendSeries(t *testing.T) {
	axe, err := os.ReadFile("testdata/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("no axe-core: run npm ci in cmd/acceptance/page/testdata")
	}
	dir := nightlyStore(t)
	db, err := queries.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := open(t, 1280, 850, true)
	b.site = served(t, dir, nil).address
	b.visit("?view=trend")
	b.audit("trend", string(axe))
	names := func(selector string) []string {
		t.Helper()
		return eval[[]string](b, `[...document.querySelectorAll('`+selector+`')].map((n) => n.innerText)`)
	}
	records, err := db.Records(t.Context(), "SELECT target AS program FROM experiments JOIN metric_totals USING (experiment_id) JOIN default_metrics USING (experiment_id, metric) WHERE mode = 'user' GROUP BY target ORDER BY sum(value) DESC")
	if err != nil {
		t.Fatal(err)
	}
	var programs []string
	for _, r := range records {
		programs = append(programs, r.Text("program"))
	}
	if got := names(".trendplace .legend .named"); !slices.Equal(got, programs) || len(got) != 6 {
		t.Errorf("series %q, want %q", got, programs)
	}
	b.run(chromedp.Click(`//button[.='Small ones']`, chromedp.BySearch), settled)
	if got := names(".multiples .named"); !slices.Equal(got, programs) {
		t.Errorf("small charts %q, want %q", got, programs)
	}
	b.visit("?view=trend&experiment=target%3Dingestd&what=functions")
	if got := names(".trendplace .legend .named"); !slices.Equal(got, []string{"parse", "hash", "validate"}) {
		t.Errorf("functions %q", got)
	}
	changes := b.cells()
	if len(changes) < 1 || !strings.Contains(changes[0], "27 Jan") || !strings.HasSuffix(changes[0], "validate") {
		t.Errorf("changes of the functions: %q", changes)
	}
}

// TestHistoryInTwo checks that the history of a function is two steps away from the start page, and a comparison of all
// nights before a change with those after it, with its difference flame graph, at most two.
func TestHistoryInTwo(t *testing.T) {
	dir := nightlyStore(t)
	b := open(t, 1280, 850, false)
	b.site = served(t, dir, nil).address
	b.visit("")
	b.run(poll(`document.querySelector('main .named') !== null`), chromedp.Click(`main .named`, chromedp.ByQuery), settled)
	name := eval[string](b, `new URLSearchParams(location.search).get('function') ?? ''`)
	b.run(chromedp.Click(`//nav//a[span[.='Trend']]`, chromedp.BySearch), settled, poll(`document.querySelector('.trendchart') !== null`))
	if title := eval[string](b, `document.querySelector('h1').innerText`); name == "" || !strings.Contains(title, name) {
		t.Errorf("the trend of %q: %q", name, title)
	}
	b.visit("")
	b.run(poll(`document.querySelector('.actions .pri') !== null`), chromedp.Click(".actions .pri", chromedp.ByQuery), settled,
		poll(`document.querySelectorAll('[role=treeitem]').length > 0`))
	base, test := b.groups()
	db, err := queries.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := compare.Defaults()
	r.Base, r.Test = base, test
	want, err := compare.Run(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	sentence := eval[string](b, `document.querySelector('.heading p').innerText`)
	if part := fmt.Sprintf("medians of %d and %d runs", len(want.Base.Runs), len(want.Test.Runs)); !strings.Contains(sentence, part) || len(want.Base.Runs) < 10 {
		t.Errorf("%q lacks %q", sentence, part)
	}
}
