package page

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/storetest"
)

// changedStore returns a store of forty nights of the program app: since night 25, slow takes 30 ms more, and validate
// has appeared. tiny is too small to be judged.
func changedStore(t *testing.T) string {
	t.Helper()
	var nights []map[string]int
	for n := range 40 {
		values := map[string]int{"main": 500 + n*7%11, "slow": 100 + n*5%7, "tiny": n % 2 / 1}
		if n >= 25 {
			values["slow"] += 30
			values["validate"] = 40 + n%3
		}
		nights = append(nights, values)
	}
	return storetest.New(t, storetest.Nights(nights))
}

const (
	baseNights     = "started=2026-01-01..2026-01-25,target=app"
	testNights     = "started=2026-01-26..2026-02-09,target=app"
	comparedNights = "?view=compare&base=started%3D2026-01-01..2026-01-25%2Ctarget%3Dapp&experiment=started%3D2026-01-26..2026-02-09%2Ctarget%3Dapp"
)

// groups returns the selectors of base and test in the address.
func (b *browser) groups() (base, test []string) {
	b.t.Helper()
	query, err := url.ParseQuery(strings.TrimPrefix(eval[string](b, `location.search`), "?"))
	if err != nil {
		b.t.Fatal(err)
	}
	return query["base"], query["experiment"]
}

// signedPercent formats a ratio as a change, as the page does.
func signedPercent(ratio float64) string {
	sign := "+"
	if ratio < 1 {
		sign = "\u2212"
	}
	return fmt.Sprintf("%s%.1f\u202f%%", sign, 100*math.Abs(ratio-1))
}

// TestCompare checks that the place Compare has the numbers of `stackmill compare`, one dot for each run with its
// value in SQL, and the conditions of the runs; and that rows that are not judged are folded with their count.
func TestCompare(t *testing.T) {
	dir := changedStore(t)
	db, err := queries.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := compare.Defaults()
	r.Base, r.Test = []string{baseNights}, []string{testNights}
	want, err := compare.Run(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, 1280, 850, false)
	b.site = served(t, dir, nil).address
	b.visit(comparedNights)
	b.run(chromedp.WaitReady(`[role=treeitem]`, chromedp.ByQuery), settled)
	total := want.Rows[0]
	title := fmt.Sprintf("app became slower by %s: validate appeared", signedPercent(total.Ratio)[1:])
	if got := eval[string](b, `document.querySelector('h1').innerText`); got != title {
		t.Errorf("the title is %q, want %q", got, title)
	}
	sentence := eval[string](b, `document.querySelector('.heading p').innerText`)
	for _, part := range []string{"medians of 25 and 15 runs", signedPercent(total.Low) + " … " + signedPercent(total.High), fmt.Sprintf("%d of %d rows judged", want.Judged, len(want.Rows))} {
		if !strings.Contains(sentence, part) {
			t.Errorf("%q lacks %q", sentence, part)
		}
	}
	var rows []string
	for _, r := range want.Rows {
		if r.Judged {
			change := "new"
			if r.Base > 0 {
				change = signedPercent(r.Ratio)
			}
			rows = append(rows, strings.Join([]string{amount(r.Base), amount(r.Test), change, r.Verdict, strings.Trim(r.Names[0], "<>")}, "|"))
		}
	}
	got := eval[[]string](b, `[...document.querySelectorAll('table.comparison tbody tr')].map((r) => {
		const text = (n) => r.cells[n].innerText.trim().split('\n')[0];
		return [text(0), text(1), text(3), r.cells[5].querySelector('.verdict span').innerText, text(6)].join('|');
	})`)
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("-stackmill compare +page\n%s", diff)
	}
	b.checkRuns(db)
	small := want.Small()
	if note := eval[string](b, `document.querySelector('.compare .small').innerText`); small.Rows != 1 || !strings.HasPrefix(note, "1 more row has too little to be judged") {
		t.Errorf("%q of %+v", note, small)
	}
	b.run(chromedp.Click(".small button", chromedp.ByQuery), settled, poll(`document.querySelectorAll('.small tbody tr').length === 1`))
	if row := eval[string](b, `document.querySelector('.small tbody').innerText`); !strings.Contains(row, "tiny") {
		t.Errorf("the rows that are not judged: %q", row)
	}
	facts := eval[[]string](b, `[...document.querySelectorAll('.fairness tr')].map((r) => [...r.cells].map((c) => c.innerText).join('|'))`)
	for _, fact := range []string{"Program|app|the same", "Data lost|none in 40 runs|the same"} {
		if !slices.Contains(facts, fact) {
			t.Errorf("%q lacks %q", facts, fact)
		}
	}
	for _, by := range []string{"line", "load-object", "path"} {
		b.visit(comparedNights + "&by=" + by + "&normalise=total")
		if n := len(b.cells()); n < 2 {
			t.Errorf("by %s: %d rows", by, n)
		}
	}
}

// checkRuns checks that each run of the comparison is a dot with the run's value.
func (b *browser) checkRuns(db *queries.DB) {
	b.t.Helper()
	totals, err := db.Records(b.t.Context(), "SELECT experiment, value::DOUBLE AS value FROM metric_totals WHERE mode = 'user' AND metric = 'm' ORDER BY experiment")
	if err != nil {
		b.t.Fatal(err)
	}
	var want []string
	for _, r := range totals {
		want = append(want, r.Text("experiment")+": "+amount(r["value"].(float64)))
	}
	dots := eval[[]string](b, `[...document.querySelectorAll('.rundots circle title')].map((t) => t.textContent.replace(/, build.*:/, ':')).sort()`)
	if diff := cmp.Diff(want, dots); diff != "" {
		b.t.Errorf("runs: -SQL +page\n%s", diff)
	}
}

// spans returns the brushes of the picker: first and last night of base and test, from 1.
func (b *browser) spans() (base, test [2]int) {
	b.t.Helper()
	v := eval[[]int](b, `[...document.querySelectorAll('.runstrip [role=slider]')].map((s) => Number(s.ariaValueNow))`)
	if len(v) != 4 {
		b.t.Fatalf("%d edges", len(v))
	}
	return [2]int{v[0], v[1]}, [2]int{v[2], v[3]}
}

// checkSpans checks that the brushes are as wanted, and that the address has them.
func (b *browser) checkSpans(what string, base, test [2]int) {
	b.t.Helper()
	b.run(settled, poll(`document.querySelectorAll('.runstrip [role=slider]').length === 4`))
	gotBase, gotTest := b.spans()
	if gotBase != base || gotTest != test {
		b.t.Errorf("%s: %v and %v, want %v and %v", what, gotBase, gotTest, base, test)
	}
	if max(gotBase[0], gotTest[0]) <= min(gotBase[1], gotTest[1]) {
		b.t.Errorf("%s: the brushes overlap: %v and %v", what, gotBase, gotTest)
	}
	night := func(n int) string { return fmt.Sprintf("2026-%02d-%02d", 1+(n-1)/31, 1+(n-1)%31) }
	of := func(span [2]int) string {
		if span[0] == span[1] {
			return fmt.Sprintf("started=%s,target=app", night(span[0]))
		}
		return fmt.Sprintf("started=%s..%s,target=app", night(span[0]), night(span[1]))
	}
	gotB, gotT := b.groups()
	if !slices.Equal(gotB, []string{of(base)}) || !slices.Equal(gotT, []string{of(test)}) {
		b.t.Errorf("%s: the address has %q and %q, want %q and %q", what, gotB, gotT, of(base), of(test))
	}
}

// openPicker opens the picker of base and test.
func (b *browser) openPicker() {
	b.t.Helper()
	b.run(chromedp.Click(`//button[.='Choose runs']`, chromedp.BySearch), poll(`document.querySelector('.runstrip') !== null`), settled)
}

// TestBrushes moves the brushes of the picker by mouse, touch and keyboard. They never overlap, and the address has
// the nights that they show.
func TestBrushes(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.site = served(t, changedStore(t), nil).address
	b.visit(comparedNights)
	b.openPicker()
	b.checkSpans("at first", [2]int{1, 25}, [2]int{26, 40})
	at := func(step float64) (x, y float64) {
		box := eval[[]float64](b, `(() => { const r = document.querySelector('.runstrip').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`)
		return box[0] + box[2]*step/40, box[1] + box[3]/2
	}
	drag := func(from, to float64) {
		t.Helper()
		x, y := at(from)
		toX, _ := at(to)
		b.run(chromedp.MouseEvent(input.MousePressed, x, y, chromedp.ButtonLeft), chromedp.MouseEvent(input.MouseMoved, (x+toX)/2, y, chromedp.ButtonLeft),
			chromedp.MouseEvent(input.MouseMoved, toX, y, chromedp.ButtonLeft), chromedp.MouseEvent(input.MouseReleased, toX, y, chromedp.ButtonLeft))
	}
	drag(0, 10)
	b.checkSpans("the first edge of the base", [2]int{11, 25}, [2]int{26, 40})
	drag(33, 20)
	b.checkSpans("the test against the base", [2]int{11, 25}, [2]int{26, 40})
	drag(39.9, 36)
	b.checkSpans("the last edge of the test", [2]int{11, 25}, [2]int{26, 36})
	drag(31, 39.9)
	b.checkSpans("the test to the end", [2]int{11, 25}, [2]int{30, 40})
	drag(29, 15)
	b.checkSpans("the test's edge pushes the base", [2]int{11, 15}, [2]int{16, 40})
	x, y := at(40)
	toX, _ := at(38)
	touch := func(kind input.TouchType, points ...*input.TouchPoint) chromedp.Action {
		return input.DispatchTouchEvent(kind, points)
	}
	b.run(touch(input.TouchStart, &input.TouchPoint{X: x - 1, Y: y}), touch(input.TouchMove, &input.TouchPoint{X: toX, Y: y}), touch(input.TouchEnd))
	b.checkSpans("by touch", [2]int{11, 15}, [2]int{16, 38})
	edge := func(label, keys string) {
		t.Helper()
		b.run(chromedp.Focus(`.runstrip [aria-label="`+label+`"]`, chromedp.ByQuery), chromedp.KeyEvent(keys))
	}
	edge("Base, last night", kb.ArrowLeft)
	b.checkSpans("by an arrow", [2]int{11, 14}, [2]int{16, 38})
	edge("Base, last night", kb.End)
	b.checkSpans("by End", [2]int{11, 37}, [2]int{38, 38})
	edge("Test, first night", kb.Home)
	b.checkSpans("by Home", [2]int{11, 11}, [2]int{12, 38})
	b.run(chromedp.NavigateBack(), settled)
	b.checkSpans("after Back", [2]int{11, 37}, [2]int{38, 38})
}

// TestPresets chooses groups by presets. One without runs cannot be chosen, and says why.
func TestPresets(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.site = served(t, changedStore(t), nil).address
	b.visit("?view=compare")
	b.run(poll(`new URLSearchParams(location.search).has('base')`), settled)
	if base, test := b.groups(); !slices.Equal(base, []string{baseNights}) || !slices.Equal(test, []string{testNights}) {
		t.Errorf("without a choice, %q is compared with %q", test, base)
	}
	b.openPicker()
	presets := eval[[]string](b, `[...document.querySelectorAll('.presets button')].map((p) => p.innerText.replace('\n', ': ') + (p.disabled ? ', disabled' : ''))`)
	want := []string{
		"Before and after the last change: 25 and 15", "Last night and the 10 before: 10 and 1", "Last week and this week: 7 and 7",
		"This build and the build before: all runs are of one build, disabled", "Two values of a label: no label divides the runs, disabled", "The pinned base, and all after it: no base is pinned, disabled",
	}
	if diff := cmp.Diff(want, presets); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	b.run(chromedp.Click(`//button[span[.='Last week and this week']]`, chromedp.BySearch))
	b.checkSpans("by weeks", [2]int{27, 33}, [2]int{34, 40})
	if sentence := eval[string](b, `document.querySelector('.heading p').innerText`); !strings.Contains(sentence, "medians of 7 and 7 runs") {
		t.Errorf("weeks: %q", sentence)
	}
	b.run(chromedp.Click(`//div[@aria-label='Choose by']/button[.='One by one']`, chromedp.BySearch), poll(`document.querySelectorAll('.choices li').length === 40`),
		chromedp.Click(`.choices [aria-label="night-00.er in the base"]`, chromedp.ByQuery), settled)
	if base, _ := b.groups(); !slices.Equal(base, []string{"started=2026-01-01,target=app", "started=2026-01-27..2026-02-02,target=app"}) {
		t.Errorf("with one more run, the base is %q", base)
	}
	b.run(chromedp.Click(`.choices [aria-label="night-00.er in the test"]`, chromedp.ByQuery), settled)
	if base, test := b.groups(); len(base) != 1 || !slices.Equal(test, []string{"started=2026-01-01,target=app", "started=2026-02-03..2026-02-09,target=app"}) {
		t.Errorf("a run that goes to the other side leaves %q and %q", base, test)
	}
}

// TestCompareMany checks that all of ten experiments of the base, and all of four ticked ones, are compared, that the
// texts of the picker are the address's, also after Back, and that the picker is accessible.
func TestCompareMany(t *testing.T) {
	axe, err := os.ReadFile("testdata/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("no axe-core: run npm ci in cmd/acceptance/page/testdata")
	}
	b := open(t, 1280, 850, false)
	b.site = served(t, changedStore(t), nil).address
	var ten []string
	for n := range 10 {
		ten = append(ten, fmt.Sprintf("night-%02d.er", n))
	}
	query := url.Values{"view": {"compare"}, "base": ten, "experiment": {"night-30.er"}}
	b.visit("?" + query.Encode())
	b.openPicker()
	b.audit("the picker", string(axe))
	b.run(chromedp.Click(`//div[@aria-label='Choose by']/button[.='Selectors']`, chromedp.BySearch))
	texts := func() []string {
		t.Helper()
		return eval[[]string](b, `[...document.querySelectorAll('.selectors textarea')].map((i) => i.value)`)
	}
	written := []string{strings.Join(ten, "\n"), "night-30.er"}
	if got := texts(); !slices.Equal(got, written) {
		t.Errorf("the texts are %q", got)
	}
	b.run(chromedp.SendKeys(`//label[span[.='Test']]/textarea`, kb.Enter+"night-31.er", chromedp.BySearch),
		poll(`document.querySelectorAll('.selectors small')[1].innerText === '2 runs'`), chromedp.Click(`.selectors button`, chromedp.ByQuery), settled)
	base, test := b.groups()
	if !slices.Equal(base, ten) || !slices.Equal(test, []string{"night-30.er", "night-31.er"}) {
		t.Errorf("after the button: %q and %q", base, test)
	}
	if sentence := eval[string](b, `document.querySelector('.heading p').innerText`); !strings.Contains(sentence, "medians of 10 and 2 runs") {
		t.Errorf("ten and two: %q", sentence)
	}
	b.run(chromedp.NavigateBack(), settled)
	if got := texts(); !slices.Equal(got, written) {
		t.Errorf("after Back, the texts are %q", got)
	}

	b.visit("?view=experiments")
	for n := 30; n < 34; n++ {
		b.run(chromedp.Click(fmt.Sprintf(`input[aria-label="tick night-%02d.er"]`, n), chromedp.ByQuery), settled)
	}
	b.run(chromedp.Click(`//section[@aria-label='Ticked experiments']//a[.='Comparison']`, chromedp.BySearch), poll(`new URLSearchParams(location.search).has('base')`), settled)
	if sentence := eval[string](b, `document.querySelector('.heading p').innerText`); !strings.Contains(sentence, "medians of 10 and 4 runs") {
		t.Errorf("four ticked experiments: %q", sentence)
	}
}
